/** Inputs of neither jobs nor batches, with sizes around Temporal's limits: each works, or is refused before anything happens. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobWorkflowId } from '../../../../src/addresses/addresses.js';
import { resolveUpdate } from '../../../../src/protocol/messages.js';
import type { CleanupPolicy } from '../../../../src/retention/index.js';
import { readPolicy } from '../../../../src/retention/index.js';
import { startCleanup } from '../../../../src/workflow-client/cleanups/cleanup-client.js';
import { promptJob, resolveJob, startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { scheduledCleanup } from '../../../../src/workflow-client/schedules/scheduled-work.js';
import type { JobInput } from '../../../../workflows/index.js';
import { policyFor } from '../../../workflows/cleanup/cleanup-harness.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { longFile, sizes } from '../../../workflows/long-inputs.js';
import { ask, readySandbox, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import {
  createStand,
  deployment,
  jobInput,
  letGo,
  type Stand,
  script,
  untilGo,
} from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const long = (bytes: number) => 'x'.repeat(bytes);
const noWorkflow = (workflowId: string) =>
  expect(stand.client.workflow.getHandle(workflowId).describe()).rejects.toThrow();

describe('a name in a job', () => {
  const fields: readonly (readonly [field: string, over: (name: string) => Partial<JobInput>])[] = [
    ['source.body.environment', (environment) => ({ source: { kind: 'create', body: { environment } } })],
    ['source.body.from', (from) => ({ source: { kind: 'create', body: { from } } })],
    ['source.sandboxId', (sandboxId) => ({ source: { kind: 'existing', sandboxId } })],
    ['put.0.path', (path) => ({ put: [longFile(path, 1)] })],
    ['collect.0', (path) => ({ collect: [path] })],
    ['prompts.0.model', (model) => ({ prompts: [{ prompt: 'hello', model }] })],
    ['notify.url', (name) => ({ notify: { url: `https://example.com/${name}` } })],
  ];
  it.each(fields)('is refused before the start if it is too long: %s', async (field, over) => {
    for (const bytes of sizes) {
      const input = jobInput(over(long(bytes)));
      const refused = { code: 'bad_job_input', message: expect.stringContaining(`${field}: `) };
      await expect(startJob(stand.client, input, stand), `${bytes}`).rejects.toMatchObject(refused);
      await noWorkflow(jobWorkflowId(deployment, input.jobId));
    }
  });
});

describe('a message to a job', () => {
  it('is refused before it is sent if it is too long, and the job continues', async () => {
    const lost = { kind: 'drop_response', endpoint: 'sendPrompt' } as const;
    await stand.fault(lost);
    const handle = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    const job = { deployment, jobId: (await progressOf(handle)).jobId };
    for (const bytes of sizes) {
      const decision = { action: 'sent', promptId: long(bytes) } as const;
      await expect(resolveJob(stand.client, job, decision)).rejects.toMatchObject({
        code: 'bad_job_input',
        message: expect.stringContaining('The decision cannot be sent: promptId: '),
      });
      const followUp = promptJob(stand.client, job, { prompt: 'hello' }, { updateId: long(bytes) });
      await expect(followUp).rejects.toThrow('The prompt cannot be sent: updateId: must not be longer than 1000 bytes');
      // The job answers requests that bypass our client, up to Temporal's limits.
      if (bytes > 1_500_000) continue;
      const raw = handle.executeUpdate(resolveUpdate, { args: [decision] });
      await expect(raw).rejects.toMatchObject({ cause: { message: expect.stringContaining('too long') } });
    }
    await letGo(stand, (await progressOf(handle)).sandboxId);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });
});

describe('a request to stop a sandbox', () => {
  it('is refused before anything starts if it is too long', async () => {
    const sandboxId = await readySandbox(stand);
    for (const bytes of sizes) {
      for (const [field, over] of [
        ['requestId', { requestId: long(bytes) }],
        ['notify.url', { notify: { url: `https://example.com/${long(bytes)}` } }],
      ] as const) {
        await expect(ask(stand, { sandboxId, ...over })).rejects.toMatchObject({
          code: 'bad_stop_request',
          message: expect.stringContaining(`${field}: `),
        });
      }
    }
    await noWorkflow(stopWorkflow(stand, sandboxId).workflowId);
  });
});

describe('a cleanup policy', () => {
  const plain = readPolicy(policyFor('sized', 'stop'), 'test');
  /** A policy with this many bytes of patterns. */
  const policyOf = (bytes: number): CleanupPolicy => ({
    ...plain,
    protect: Array.from({ length: Math.ceil(bytes / 200) }, (_, at) => `${at}`.padEnd(197, 'x')),
  });
  const options = (policy: CleanupPolicy) => ({ deployment, taskQueue: stand.taskQueue, policy });

  it('is refused before anything starts or is scheduled if it is too long', async () => {
    for (const bytes of sizes) {
      for (const [policy, message] of [
        [policyOf(bytes), /^The policy cannot be used. It has \d+ bytes, but at most 300000 are allowed/],
        [
          { ...plain, name: long(bytes) },
          /^The policy cannot be used. Its name has \d+ characters, but at most 40 are allowed/,
        ],
      ] as const) {
        const refused = { code: 'bad_policy', message: expect.stringMatching(message) };
        const started = startCleanup(stand.client, { ...options(policy), mode: 'plan' });
        await expect(started, `${bytes}`).rejects.toMatchObject(refused);
        expect(() => scheduledCleanup(options(policy)), `${bytes}`).toThrow(expect.objectContaining(refused));
      }
      expect(() => readPolicy(`name: sized # ${long(bytes)}`, 'test')).toThrow('is longer than 200000 characters');
    }
  });

  it('of the maximum length is applied', async () => {
    const handle = await startCleanup(stand.client, { ...options(policyOf(295_000)), mode: 'plan' });
    expect(await handle.result()).toMatchObject({ outcome: 'planned', error: null });
  });
});
