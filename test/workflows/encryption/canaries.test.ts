import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ApiError } from '../../../src/client/index.js';
import { jobHandle, promptJob, startJob } from '../../../src/workflow-client/jobs/job-client.js';
import type { Labels } from '../../../src/workflow-client/labels.js';
import { listJobs } from '../../../src/workflow-client/list-executions.js';
import { progressOf } from '../job-progress.js';
import { letGo, type Stand, script, untilGo } from '../workflow-harness.js';
import {
  canary,
  createEncryptedStand,
  encryptedJob,
  everythingIn,
  filesIn,
  heldByServer,
  ringOf,
} from './encrypted-harness.js';

const ring = ringOf('one');
/** A separate namespace: a list reads memos, and those of other tests have other keys. */
const deployment = 'canaries';
const refusal = canary('refusal');
let stand: Stand;
/** Reads what any reader of Temporal can see. */
let stranger: Client;
beforeAll(async () => {
  stranger = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
  stand = await createEncryptedStand(ring, {
    through: (client) => ({
      ...client,
      async sendPrompt(sandboxId, request, call) {
        if (!request.prompt.includes('refuse this')) return client.sendPrompt(sandboxId, request, call);
        throw new ApiError(`No: ${refusal}`, {
          endpoint: 'sendPrompt',
          status: 400,
          code: 'prompt_required',
          typed: true,
          meaning: 'permanent',
          requestId: null,
          retryAfterMs: null,
          details: { why: refusal },
        });
      },
    }),
  });
});
afterAll(async () => {
  await stand.close();
  await stranger.connection.close();
});

const start = (input: ReturnType<typeof encryptedJob>, labels?: Labels) =>
  startJob(stand.client, input, { taskQueue: stand.taskQueue, results: stand.results, labels });

describe('with the codec', () => {
  it('no prompt, follow-up, answer, script, file, command or label is in the history, a memo, a heartbeat, a query or the result store', async () => {
    const names = 'prompt followup answer setup put long command collected label labelName'.split(' ');
    const canaries = Object.fromEntries(names.map((name) => [name, canary(name)]));
    const { answer = '', collected = '', labelName = '', label = '' } = canaries;
    const input = encryptedJob({
      deployment,
      source: { kind: 'create', body: { setupScript: `echo ${canaries.setup}` } },
      put: [{ path: 'in.txt', content: { base64: Buffer.from(canaries.put ?? '').toString('base64') } }],
      commands: [`echo ${canaries.command}`],
      prompts: [
        // The answer is created in the sandbox, and is not part of the prompt.
        {
          prompt: `${canaries.prompt} ${script(`echo ${reversed(answer)} | rev; echo ${reversed(collected)} | rev > out.txt; ${untilGo}`)}`,
        },
        { prompt: `${canaries.long} ${'x'.repeat(40_000)} ${script('true')}` },
      ],
      collect: ['out.txt'],
    });
    const { handle } = await start(input, { [labelName]: label });
    const job = { deployment, jobId: input.jobId };
    let held = '';
    await expect
      .poll(
        async () => {
          held += await heldByServer(stranger, handle.workflowId);
          return await progressOf(handle);
        },
        { interval: 200 },
      )
      .toMatchObject({ phase: 'following' });
    await promptJob(stand.client, job, { prompt: `${canaries.followup} ${script('true')}` });
    held += everythingIn(await rawQuery(handle.workflowId, 'progress'));
    held += await heldByServer(stranger, handle.workflowId);
    await letGo(stand, (await progressOf(handle)).sandboxId);
    const result = await handle.result();
    held += await heldByServer(stranger, handle.workflowId);
    held += await filesIn(stand.resultsDirectory);

    expect(result).toMatchObject({ outcome: 'completed' });
    expect(result.prompts).toHaveLength(3);
    expect(result.prompts[0]?.result).toContain(answer);
    expect((await stand.results.get(result.files[0]?.ref ?? '')).toString()).toContain(collected);
    expect(await listed(input.jobId)).toMatchObject({
      prompt: expect.stringContaining(canaries.prompt ?? ''),
      labels: { [labelName]: label },
      outcome: 'completed',
    });
    expect(await unencryptedMemos(handle.workflowId)).toEqual([]);
    for (const [name, text] of Object.entries(canaries)) {
      for (const form of [text, reversed(text), Buffer.from(text).toString('base64').slice(0, 24)]) {
        expect(held.includes(form), `${name} as ${form}`).toBe(false);
      }
    }
    expect(held).toContain('binary/encrypted');
  });

  it('messages, details and stacks of failures are encrypted, and readable with the key', async () => {
    const input = encryptedJob({ deployment, prompts: [{ prompt: 'refuse this' }] });
    const { handle } = await start(input);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'rejected', error: { message: expect.stringContaining(refusal) } });
    const held = await heldByServer(stranger, handle.workflowId);
    expect(held).toContain('Encoded failure');
    expect(held).not.toContain(refusal);
    expect(held).not.toMatch(/\.(?:ts|js):\d+/);
  });

  it('a summary contains the prompt only on request, and the SDK encrypts it', async () => {
    const prompt = canary('summary');
    for (const promptInSummary of [undefined, true]) {
      const input = encryptedJob({ deployment, prompts: [{ prompt: `${prompt} ${script('true')}` }] });
      const options = { taskQueue: stand.taskQueue, results: stand.results, promptInSummary };
      const { handle } = await startJob(stand.client, input, options);
      const summary = await (await handle.describe()).staticSummary();
      if (promptInSummary) expect(summary).toContain(prompt);
      else expect(summary).toBe(input.jobId);
      await handle.result();
      expect(await heldByServer(stranger, handle.workflowId)).not.toContain(prompt);
    }
  });

  it('the refusal of an update is encrypted too', async () => {
    const input = encryptedJob({ deployment, prompts: [{ prompt: script(untilGo) }] });
    const { handle } = await start(input);
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    const resolving = jobHandle(stand.client, { deployment, jobId: input.jobId }).executeUpdate('resolve', {
      args: [{ action: 'resend' }],
    });
    await expect(resolving).rejects.toMatchObject({ cause: { message: expect.not.stringContaining('Encoded') } });
    await letGo(stand, (await progressOf(handle)).sandboxId);
    await handle.result();
  });
});

const reversed = (text: string) => [...text].reverse().join('');

/** Names of the values of a memo that are not encrypted. */
async function unencryptedMemos(workflowId: string): Promise<string[]> {
  const { namespace } = stranger.options;
  const described = await stranger.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  const fields = Object.entries(described.workflowExecutionInfo?.memo?.fields ?? {});
  expect(fields.map(([name]) => name)).toContain('outcome');
  return fields.flatMap(([name, { metadata }]) =>
    Buffer.from(metadata?.encoding ?? '').toString() === 'binary/encrypted' ? [] : [name],
  );
}

function rawQuery(workflowId: string, queryType: string) {
  const { namespace } = stranger.options;
  return stranger.workflowService.queryWorkflow({ namespace, execution: { workflowId }, query: { queryType } });
}

async function listed(jobId: string) {
  let found: unknown;
  await expect
    .poll(async () => {
      found = (await listJobs(stand.client, { deployment, limit: 1_000 })).find((job) => job.jobId === jobId);
      return found;
    })
    .toBeDefined();
  return found;
}
