/** No shell of the worker runs text from the input of a workflow. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanupId, jobWorkflowId, sandboxStopId } from '../../../src/addresses/addresses.js';
import { createNotifyCommands, type NotifyCommands } from '../../../src/notify/index.js';
import { readPolicy } from '../../../src/retention/index.js';
import { requestStopUpdate } from '../../../workflows/index.js';
import { policyFor } from '../../workflows/cleanup/cleanup-harness.js';
import { fanoutInput } from '../../workflows/fanout/fanout-harness.js';
import { deliveriesOf } from '../../workflows/notification/listener.js';
import { heal } from '../../workflows/stop/stop-harness.js';
import { createStand, deployment, jobInput, type Stand, shortTiming } from '../../workflows/workflow-harness.js';

let stand: Stand;
let directory: string;
let commands: NotifyCommands;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-attack-'));
  commands = createNotifyCommands(join(directory, 'notify-commands.json'));
  stand = await createStand({ worker: { notifyCommands: commands } });
});
afterAll(async () => {
  await stand.close();
  await rm(directory, { recursive: true });
});

/** A command as older inputs have it, and the file that it would write. */
function attack() {
  const ran = join(directory, randomUUID());
  return { ran, command: `touch ${ran}` };
}

/** What anyone with access to Temporal can do, without the checks of our client. */
function start(type: string, workflowId: string, input: object): Promise<WorkflowHandle> {
  return stand.client.workflow.start(type, { workflowId, taskQueue: stand.taskQueue, args: [input] });
}

async function refusals(workflowId: string): Promise<string[]> {
  const deliveries = await deliveriesOf(stand, workflowId, 1);
  return Promise.all(deliveries.map(refusal));
}

async function refusal(delivery: WorkflowHandle): Promise<string> {
  const error = await delivery.result().catch((thrown: unknown) => thrown);
  if (!(error instanceof WorkflowFailedError)) throw new Error('It did not fail.', { cause: error });
  const { type, message } = (error.cause?.cause ?? {}) as { type?: string; message?: string };
  return `${type}: ${message}`;
}

const neverRun = /^notify_failed: .* A worker runs no text from a workflow\.$/;

describe('a command in the input of a workflow is refused and not run', () => {
  it('for a job', async () => {
    const { ran, command } = attack();
    const input = jobInput();
    const handle = await start('createThenPrompt', jobWorkflowId(deployment, input.jobId), {
      ...input,
      notify: { command },
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await refusals(handle.workflowId)).toEqual([expect.stringMatching(neverRun)]);
    expect(existsSync(ran)).toBe(false);
  });

  it('for a batch', async () => {
    const { ran, command } = attack();
    const input = fanoutInput({ kind: 'sandbox', sandboxId: 'bx_2a2a2a2a', allowStale: true });
    const workflowId = jobWorkflowId(deployment, input.batchId);
    const handle = await start('forkFanout', workflowId, { ...input, notify: { command } });
    await handle.cancel();
    await handle.result();
    expect(await refusals(workflowId)).toEqual([expect.stringMatching(neverRun)]);
    expect(existsSync(ran)).toBe(false);
  });

  it('for a request to stop a sandbox, which is refused', async () => {
    const { ran, command } = attack();
    const sandboxId = 'bx_2b2b2b2b';
    const handle = await start('stopAndAwaitArchive', sandboxStopId(sandboxId), { sandboxId, timing: shortTiming });
    const notify = { command } as object;
    const request = { requestId: 'r', deadlineMs: 1_000, alertAfterMs: null, notify };
    const asked = handle.executeUpdate(requestStopUpdate, { args: [request] });
    await expect(asked).rejects.toMatchObject({
      cause: { message: expect.stringContaining('its text is not accepted') },
    });
    await handle.result();
    expect(existsSync(ran)).toBe(false);
  });

  it('for a request to stop a sandbox that claims to come from an earlier run', async () => {
    const { ran, command } = attack();
    const sandboxId = 'bx_2c2c2c2c';
    const record = {
      request: { requestId: 'r', deadlineMs: 1, alertAfterMs: null, notify: { command } },
      ...{ arrivedAtMs: 0, outcome: null, stopId: 'stop-1', status: null, kept: null, failed: null, askedAgain: 0 },
      ...{ owner: null, alertedAtMs: null, endedAtMs: null, blocked: null, error: null, asked: null },
    };
    const carried = { records: [record], wakes: [] };
    const input = { sandboxId, timing: shortTiming, carried };
    const handle = await start('stopAndAwaitArchive', sandboxStopId(sandboxId), input);
    await handle.result();
    expect(await refusals(handle.workflowId)).toEqual([expect.stringMatching(neverRun)]);
    expect(existsSync(ran)).toBe(false);
  });

  it('for a cleanup', async () => {
    const { ran, command } = attack();
    const policy = { ...readPolicy(policyFor('attacked', 'stop'), 'test'), notify: { command } };
    const workflowId = `${cleanupId(deployment, policy.name)}-now`;
    await stand.fault({ kind: 'error', endpoint: 'listSandboxes', status: 402, code: 'billing_required' });
    const handle = await start('retentionCleanup', workflowId, { deployment, policy, mode: 'apply' });
    expect(await refusals(workflowId)).toEqual([expect.stringMatching(neverRun)]);
    await handle.cancel();
    await handle.result();
    await heal(stand);
    expect(existsSync(ran)).toBe(false);
  });

  it.each([
    (command: string) => ({ command }),
    (command: string) => ({ command, commandId: 'known' }),
    (command: string) => ({ commandId: command }),
    (command: string) => ({ commandId: { toString: command } }),
    (command: string) => ({ commandId: [command] }),
    (command: string) => ({ commandId: '__proto__', args: [command] }),
    (command: string) => ({ shell: command }),
    (command: string) => ({ url: { toString: command } }),
  ])('for a delivery that no workflow sent: %s', async (targetOf) => {
    const { ran, command } = attack();
    const input = { target: targetOf(command), notification: { id: 'msg_1', event: 'ended', workflowId: 'w' } };
    const delivery = await start('deliverNotification', `notify/attack/${randomUUID()}`, input);
    await delivery.result().catch(() => undefined);
    expect(existsSync(ran)).toBe(false);
  });
});

describe('a command is named by an id of the worker', () => {
  it.each(['unknown', 'sha256-00000000000000000000000000000000', '../../bin/sh', 'true'])(
    'and an unknown id runs nothing and reports it: %s',
    async (commandId) => {
      const handle = await stand.start({ notify: { commandId } });
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      const why = `notify_failed: This worker has no notify command "${commandId}"; see SANDFLOW_NOTIFY_COMMANDS.`;
      expect(await refusals(handle.workflowId)).toEqual([why]);
    },
  );

  it('and gets the text of a workflow on stdin, not in an argument or the environment', async () => {
    const out = join(directory, 'out');
    const parts = `cat > ${out}.stdin; env > ${out}.env; tr '\\0' '\\n' < /proc/$$/cmdline > ${out}.args`;
    const commandId = await commands.keep(parts);
    const ran = join(directory, 'ran-by-message');
    const message = `canary $(touch ${ran}) \`touch ${ran}\`'; touch ${ran}; '"\n; touch ${ran}`;
    const notification = { id: 'msg_canary', event: 'ended', workflowId: 'canary', message };
    const input = { target: { commandId }, notification };
    const delivery = await start('deliverNotification', `notify/attack/${randomUUID()}`, input);
    await delivery.result();
    expect(JSON.parse(await readFile(`${out}.stdin`, 'utf8'))).toEqual(notification);
    for (const part of ['env', 'args']) expect(await readFile(`${out}.${part}`, 'utf8')).not.toContain('canary');
    expect(existsSync(ran)).toBe(false);
  });
});
