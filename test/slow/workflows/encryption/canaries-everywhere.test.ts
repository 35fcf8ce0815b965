/** What a reader without keys finds of whole batches, stops and cleanups: every run, its description, every schedule. */
import { createHash } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { ApiError } from '../../../../src/client/index.js';
import { readPolicy } from '../../../../src/retention/index.js';
import { startCleanup } from '../../../../src/workflow-client/cleanups/cleanup-client.js';
import { awaitFanout, submitFanout } from '../../../../src/workflow-client/fanouts/submit-fanout.js';
import { changeSchedule, putSchedule } from '../../../../src/workflow-client/schedules/schedule-client.js';
import { scheduledCleanup } from '../../../../src/workflow-client/schedules/scheduled-work.js';
import { policyFor } from '../../../workflows/cleanup/cleanup-harness.js';
import {
  canary,
  createEncryptedStand,
  deployment,
  everythingIn,
  filesIn,
  heldByServer,
  ringOf,
} from '../../../workflows/encryption/encrypted-harness.js';
import { fanoutInput } from '../../../workflows/fanout/fanout-harness.js';
import { ask, outcomeOf, readySandbox } from '../../../workflows/stop/stop-harness.js';
import { type Stand, script } from '../../../workflows/workflow-harness.js';

const refusal = canary('refusal');
let stand: Stand;
let stranger: Client;
beforeAll(async () => {
  stranger = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
  const refuse = () =>
    new ApiError(`No: ${refusal}`, {
      endpoint: 'sendPrompt',
      status: 400,
      code: 'prompt_required',
      typed: true,
      meaning: 'permanent',
      requestId: null,
      retryAfterMs: null,
      details: { why: refusal },
    });
  stand = await createEncryptedStand(ringOf('one'), {
    through: (client) => ({
      ...client,
      async sendPrompt(sandboxId, request, call) {
        if (request.prompt.includes('refuse this')) throw refuse();
        return client.sendPrompt(sandboxId, request, call);
      },
      async listAllSandboxes(...args) {
        const listed = await client.listAllSandboxes(...args);
        if (listed.some(({ name }) => name === 'refuse this')) throw refuse();
        return listed;
      },
    }),
  });
});
afterAll(async () => {
  await stand.close();
  await stranger.connection.close();
});

/** Everything on the server about the workflows of the stand's task queue. */
async function heldOfAll(): Promise<string> {
  const { namespace } = stranger.options;
  let held = await filesIn(stand.resultsDirectory).catch(() => '');
  const seen = new Set<string>();
  const { executions } = await stranger.workflowService.listWorkflowExecutions({
    namespace,
    query: `TaskQueue = '${stand.taskQueue}'`,
    pageSize: 1_000,
  });
  held += everythingIn(executions);
  for (const { execution } of executions) {
    const { workflowId } = execution ?? {};
    if (!workflowId || seen.has(workflowId)) continue;
    seen.add(workflowId);
    held += await heldByServer(stranger, workflowId);
  }
  return held;
}

function expectNone(held: string, canaries: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(canaries)) {
    for (const form of [text, Buffer.from(text).toString('base64').slice(0, 24)]) {
      expect(held.includes(form), `${name} as ${form}`).toBe(false);
    }
  }
}

it('a batch with a preparation, items, files, a refusal and a notification leaves nothing unencrypted, nor a digest', async () => {
  const names = ['setup', 'prep', 'prompt', 'put', 'command', 'answer', 'path', 'url', 'title', 'label'] as const;
  const canaries = Object.fromEntries(names.map((name) => [name, canary(name)])) as Record<
    (typeof names)[number],
    string
  >;
  const reversed = [...canaries.answer].reverse().join('');
  const guess = { id: 'guessed', prompts: [{ prompt: script('echo yes') }] };
  const input = fanoutInput(
    {
      kind: 'prepare',
      body: { setupScript: `echo ${canaries.setup}` },
      prompts: [{ prompt: `${canaries.prep} ${script('true')}` }],
      put: [],
      commands: [`echo ${canaries.command}`],
      deadlineMs: 600_000,
      end: 'delete',
    },
    {
      deployment,
      title: canaries.title,
      notify: { url: `http://127.0.0.1:1/${canaries.url}` },
    },
  );
  const items = [
    {
      id: 'one',
      collect: [`${canaries.path}.txt`],
      labels: { colour: canaries.label },
      put: [{ path: `${canaries.path}.in`, content: { base64: Buffer.from(canaries.put).toString('base64') } }],
      prompts: [{ prompt: `${canaries.prompt} ${script(`echo ${reversed} | rev | tee ${canaries.path}.txt`)}` }],
    },
    { id: 'two', prompts: [{ prompt: `refuse this ${canaries.prompt}` }] },
    guess,
  ];
  await submitFanout(stand.client, input, items, { taskQueue: stand.taskQueue, results: stand.results });
  const result = await awaitFanout(stand.client, input);
  expect(result).toMatchObject({ counts: { completed: 2 } });
  const held = await heldOfAll();
  expect(held).toContain('forkFanout');
  expect(held).toContain('deliverNotification');
  expectNone(held, { ...canaries, refusal });
  // A guessed item must not be verifiable.
  for (const text of [
    JSON.stringify(items),
    ...items.map((item) => JSON.stringify(item)),
    guess.prompts[0]?.prompt ?? '',
  ]) {
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    expect(held.includes(digest)).toBe(false);
  }
  expect(held).not.toMatch(/chunk-\d+-[0-9a-f]{16}\b(?!-)/);
});

it('a stop with a notification leaves nothing unencrypted', async () => {
  const url = canary('url');
  const sandboxId = await readySandbox(stand, { name: canary('name') });
  const stop = await ask(stand, { sandboxId, notify: { url: `http://127.0.0.1:1/${url}` } });
  await outcomeOf(stand, stop);
  const held = await heldOfAll();
  expect(held).toContain('stopAndAwaitArchive');
  expectNone(held, { url });
});

it('a cleanup and its schedule leave nothing unencrypted except the name', async () => {
  const url = canary('url');
  const rule = canary('rule');
  const more = `protect: ["${rule}"]\nwarnBeforeExpiry: 3d\nnotify: {url: "http://127.0.0.1:1/${url}"}`;
  const policy = readPolicy(policyFor('cleaned', 'delete-sandbox', more), 'test');
  const { sandbox } = await stand.api.createSandbox({ name: 'refuse this' });
  const run = await startCleanup(stand.client, { deployment, taskQueue: stand.taskQueue, policy, mode: 'apply' });
  await run.result().catch(() => undefined);
  await stand.api.deleteSandbox(sandbox.id).catch(() => undefined);
  const times = { cron: '0 3 * * *', zone: 'UTC' };
  const work = scheduledCleanup({ deployment, policy });
  const schedule = { deployment, name: 'cleaned' };
  await putSchedule(stand.client, { ...schedule, taskQueue: stand.taskQueue, work, times, command: [rule] });
  const { namespace } = stranger.options;
  const scheduleId = `schedule/${deployment}/cleaned`;
  const described = await stranger.workflowService.describeSchedule({ namespace, scheduleId });
  const listed = await stranger.workflowService.listSchedules({ namespace, maximumPageSize: 100 });
  const held = (await heldOfAll()) + everythingIn(described) + everythingIn(listed);
  await changeSchedule(stand.client, 'remove', schedule);
  expect(held).toContain('retentionCleanup');
  expectNone(held, { url, rule, refusal });
});
