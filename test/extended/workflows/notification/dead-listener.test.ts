/** A dead notification URL delays no result, and is notified when it recovers. */

import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { jobWorkflowId } from '../../../../src/addresses/addresses.js';
import type { SandboxClient } from '../../../../src/client/index.js';
import { readConfig } from '../../../../src/config.js';
import { openControlServer } from '../../../../src/supervisor/control-server.js';
import { countOpenWork } from '../../../../src/supervisor/open-work.js';
import { stackPaths } from '../../../../src/supervisor/stack-paths.js';
import { createStackWatch } from '../../../../src/supervisor/stack-watch.js';
import { listFanouts, listJobs } from '../../../../src/workflow-client/list-executions.js';
import { cli } from '../../../unit/cli/in-process.js';
import { temporaryDirectory } from '../../../unit/cli/temporary-directory.js';
import { changedBy } from '../../../workflows/changed-stand.js';
import { begin, listedAsStopped, policyFor } from '../../../workflows/cleanup/cleanup-harness.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  items,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { deliveriesOf, type Listener, openListener } from '../../../workflows/notification/listener.js';
import { ask, readySandbox, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { createStand, deployment, letGo, type Stand, script, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let listener: Listener;
let silent: Server;
const sockets = new Set<Socket>();
let change: Partial<SandboxClient> = {};

beforeAll(async () => {
  stand = await createStand({ through: changedBy(() => change) });
  listener = await openListener();
  silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  // An open delivery continues for a day, and the next test file uses the same server.
  for await (const { workflowId, taskQueue } of stand.client.workflow.list({
    query: `WorkflowType = 'deliverNotification' AND ExecutionStatus = 'Running'`,
  })) {
    if (taskQueue === stand.taskQueue) await stand.client.workflow.getHandle(workflowId).terminate();
  }
  for (const socket of sockets) socket.destroy();
  await stand.close();
  await listener.close();
  await new Promise((resolve) => silent.close(resolve));
});

const urlOf = (kind: 'refuses' | 'hangs' | 'fails') => {
  if (kind === 'refuses') return 'http://127.0.0.1:1/hook';
  if (kind === 'hangs') return `http://127.0.0.1:${(silent.address() as AddressInfo).port}/hook`;
  listener.answerWith(...Array.from({ length: 1_000 }, () => 500));
  return listener.url;
};

/** The result exists although nobody was notified: the delivery still retries. */
async function expectUndelivered(workflowId: string, count = 1) {
  const deliveries = await deliveriesOf(stand, workflowId, count);
  for (const delivery of deliveries) expect((await delivery.describe()).status.name).toBe('RUNNING');
  return deliveries;
}

describe('a result does not wait for the notification', () => {
  it.each(['refuses', 'hangs'] as const)('of a job whose URL %s', async (kind) => {
    const handle = await stand.start({ notify: { url: urlOf(kind) } });
    expect((await handle.result()).outcome).toBe('completed');
    await expectUndelivered(handle.workflowId);
    const jobs = await listJobs(stand.client, { deployment, limit: 1_000 });
    expect(jobs.filter(({ jobId }) => /notify|\//.test(jobId))).toEqual([]);
  });

  it('of a job, and the notification arrives in the end, also by the next worker', async () => {
    const handle = await stand.start({ notify: { url: urlOf('fails') } });
    await handle.result();
    const [delivery] = await expectUndelivered(handle.workflowId);
    await stand.restartWorker();
    listener.answerWith();
    await delivery?.result();
    expect(listener.toldOf(handle.workflowId).map(({ body }) => JSON.parse(body).event)).toContain('ended');
  });

  it('of a stop', async () => {
    const sandboxId = await readySandbox(stand);
    await ask(stand, { sandboxId, notify: { url: urlOf('hangs') } });
    await stopWorkflow(stand, sandboxId).result();
    await expectUndelivered(`sandbox-stop/${sandboxId}`);
  });

  it('of a batch', async () => {
    const of = source(await archivedSandbox(stand));
    const input = await submit(stand, fanoutInput(of, { notify: { url: urlOf('refuses') } }), items(2));
    expect((await ended(stand, input)).outcome).toBe('completed');
    await expectUndelivered(jobWorkflowId(input.deployment, input.batchId));
    const listed = await listFanouts(stand.client, { deployment });
    expect(listed.filter(({ batchId }) => /notify|\//.test(batchId))).toEqual([]);
  });

  it('of a cleanup', async () => {
    const golden = await archivedSandbox(stand);
    const endedAt = new Date(Date.now() - 12 * 86_400_000).toISOString();
    change = listedAsStopped(stand, golden, endedAt);
    const more = `protect: ["by hand"]\nwarnBeforeExpiry: 3d\nnotify: {url: "${urlOf('refuses')}"}`;
    const handle = await begin(stand, policyFor('dead', 'delete-sandbox', more));
    expect(await handle.result()).toMatchObject({ planned: { warningCount: 1 } });
    change = {};
    await expectUndelivered(handle.workflowId, 2);
  });
});

describe('a stack', () => {
  it('stays up for undelivered notifications for ten minutes', async () => {
    const { client, taskQueue } = stand;
    const handle = await stand.start({ notify: { url: urlOf('refuses') } });
    await handle.result();
    const [delivery] = await expectUndelivered(handle.workflowId);
    const beganMs = (await delivery?.describe())?.startTime.getTime() ?? 0;
    const open = (configured: boolean, afterMs: number) =>
      countOpenWork(
        client,
        { taskQueue, deployment, temporal: { configured, connect: { connectionOptions: {} } } },
        beganMs + afterMs,
      );
    for (const configured of [false, true]) {
      expect(await open(configured, 540_000)).toBeGreaterThan(0);
      expect(await open(configured, 1_200_000)).toBe(0);
    }
    expect(
      await countOpenWork(client, {
        taskQueue,
        deployment: 'other',
        temporal: { configured: true, connect: { connectionOptions: {} } },
      }),
    ).toBe(0);
  });

  it('is not kept by them from down, which says what is not delivered, to whom, why, and how long it is repeated', async () => {
    const home = await temporaryDirectory();
    const { lockFile, stateFile, recordFile } = stackPaths(home);
    await writeFile(lockFile, '');
    const env = { SANDFLOW_HOME: home, SANDFLOW_DEPLOYMENT: 'down', TEMPORAL_ADDRESS: inject('temporalAddress') };
    const config = { ...readConfig(env), taskQueue: stand.taskQueue };
    const watch = createStackWatch(config, { foreground: false, clients: () => [], recordFile, earlier: undefined });
    const description = { temporalAddress: '', namespace: 'default', sandboxApiUrl: '' };
    watch.ready({ description, pids: () => ({}), stop: async () => undefined }, stand.client);
    const control = await openControlServer(stateFile, { settings: '', answer: (ask) => watch.answer(ask) });
    onTestFinished(() => control.close());
    const prompts = [{ prompt: script(untilGo) }];
    const url = `${urlOf('refuses')}/SECRET`;
    const handle = await stand.start({ deployment: 'down', jobId: 'told', notify: { url }, prompts });
    const open = async () => (await watch.answer('status')).openIds;
    await expect.poll(open).toEqual(['told']);
    expect(await cli(['down'], { env })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(told)') });

    const progress = () => progressOf(handle);
    await expect.poll(async () => (await progress()).phase).toBe('following');
    await letGo(stand, (await progress()).sandboxId);
    await handle.result();
    const lastError = async () => (await watch.answer('status')).undelivered[0]?.lastError;
    await expect.poll(lastError).toContain('was not answered');
    await expect.poll(open).toEqual([]);
    const { exitCode, stderr } = await cli(['down'], { env });
    const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
    const what = 'Not delivered: the notification "ended" of told to http://127.0.0.1:1, ';
    const why = String.raw`The notification was not answered \(\w+\). It is repeated while a stack runs, and is given up at `;
    expect(stderr).toMatch(new RegExp(`^The stack has stopped.\n${what}since ${time}: ${why}${time}.\n$`));
    expect({ exitCode, isEnding: watch.ended.aborted }).toEqual({ exitCode: 0, isEnding: true });
    await expectUndelivered(handle.workflowId);
  });
});
