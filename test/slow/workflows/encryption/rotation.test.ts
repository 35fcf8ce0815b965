/** Running work while keys change. */

import { readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import {
  createEncryptedDataConverter,
  encryptResults,
  newKeyLine,
  parseKeyRing,
} from '../../../../src/encryption/index.js';
import { describeReadable } from '../../../../src/temporal/readable-memos.js';
import { promptJob, startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import {
  createEncryptedStand,
  deployment,
  encryptedJob,
  encryptedWorkflows,
  ringOf,
} from '../../../workflows/encryption/encrypted-harness.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { createStand, letGo, script, untilGo } from '../../../workflows/workflow-harness.js';

const folder = new URL('../../../histories/', import.meta.url);

describe('a change of keys', () => {
  it('lets a job that began with one key end with the next, and its history replays with the keys', async () => {
    const one = newKeyLine('one');
    const two = newKeyLine('two');
    const before = parseKeyRing(`${one}\n${two}`);
    const after = parseKeyRing(`${two}\n${one}`);
    const stand = await createEncryptedStand(before, {
      worker: { dataConverter: createEncryptedDataConverter(after) },
    });
    try {
      const input = encryptedJob({
        prompts: [{ prompt: `${'x'.repeat(40_000)} ${script(`${untilGo}; echo first`)}` }],
      });
      const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue, results: stand.results });
      await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
      await promptJob(stand.client, { deployment, jobId: input.jobId }, { prompt: script('echo second') });
      await letGo(stand, (await progressOf(handle)).sandboxId);
      const result = await handle.result();
      expect(result.prompts.map(({ result: text }) => text?.trim())).toEqual(['first', 'second']);
      const history = await handle.fetchHistory();
      const workflowBundle = encryptedWorkflows();
      await Worker.runReplayHistory({ workflowBundle, dataConverter: createEncryptedDataConverter(after) }, history);
      const dataConverter = createEncryptedDataConverter(parseKeyRing(two));
      await expect(Worker.runReplayHistory({ workflowBundle, dataConverter }, history)).rejects.toThrow();
    } finally {
      await stand.close();
    }
  });

  it('lets jobs that began unencrypted replay with workers that encrypt', async () => {
    const workflowBundle = encryptedWorkflows();
    const dataConverter = createEncryptedDataConverter(ringOf('one'));
    for (const name of ['completed', 'prompt_failed', 'cancelled', 'fanout-batch', 'stop_archived', 'cleanup']) {
      const history = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
      // The ids of children contain it.
      const { workflowId } = history.events[0].workflowExecutionStartedEventAttributes;
      await Worker.runReplayHistory({ workflowBundle, dataConverter }, history, workflowId);
    }
  });

  it('lets a job that began unencrypted continue encrypted', async () => {
    const ring = ringOf('one');
    const dataConverter = createEncryptedDataConverter(ring);
    let encrypts = false;
    const stand = await createStand({
      results: (store) => encryptResults(store, ring),
      worker: {
        get dataConverter() {
          return encrypts ? dataConverter : undefined;
        },
        get workflowBundle() {
          return encrypts ? encryptedWorkflows() : { codePath: inject('workflowBundlePath') };
        },
      },
    });
    try {
      const input = encryptedJob({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
      const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue });
      await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
      const { sandboxId } = await progressOf(handle);
      encrypts = true;
      await stand.restartWorker();
      await letGo(stand, sandboxId);
      // This client has no keys: it can read only that the workflow has ended, and not its memo.
      const status = async () => (await describeReadable(stand.client, handle.workflowId)).status.name;
      await expect.poll(status).toBe('COMPLETED');
      const { events } = await handle.fetchHistory();
      const [result] = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
      const [plain] = (await dataConverter.payloadCodecs?.[0]?.decode(result ? [result] : [])) ?? [];
      expect(Buffer.from(result?.metadata?.encoding ?? []).toString()).toBe('binary/encrypted');
      expect(Buffer.from(plain?.data ?? []).toString()).toContain('"outcome":"completed"');
    } finally {
      await stand.close();
    }
  });
});
