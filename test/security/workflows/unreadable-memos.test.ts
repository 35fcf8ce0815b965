/** A writer to Temporal, or a lost key, makes single rows unreadable and nothing else. */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter, Payload } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readNight } from '../../../activities/cleanup/night.js';
import { createOwnerReader } from '../../../activities/cleanup/owners.js';
import { executionOf, jobWorkflowId, ownedSandboxName } from '../../../src/addresses/addresses.js';
import { createEncryptedDataConverter, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { endedKey } from '../../../src/protocol/ended-sandbox.js';
import { readPolicy } from '../../../src/retention/index.js';
import { listCleanups, startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import { cancelJob, describeJob } from '../../../src/workflow-client/jobs/job-client.js';
import { listFanouts, listJobs } from '../../../src/workflow-client/list-executions.js';
import { listSchedules } from '../../../src/workflow-client/schedules/read-schedules.js';
import { changeSchedule, putSchedule } from '../../../src/workflow-client/schedules/schedule-client.js';
import { scheduledCleanup } from '../../../src/workflow-client/schedules/scheduled-work.js';
import { policyFor } from '../../workflows/cleanup/cleanup-harness.js';

const here = parseKeyRing(newKeyLine('here'));
const lost = parseKeyRing(newKeyLine('lost'));
const taskQueue = 'nobody-takes-these';
let connection: Connection;
const clientWith = (dataConverter?: DataConverter) => new Client({ connection, dataConverter });
let mine: Client;
let stranger: Client;
let clear: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  mine = clientWith(createEncryptedDataConverter(here));
  stranger = clientWith(createEncryptedDataConverter(lost));
  clear = clientWith();
});
afterAll(() => connection.close());

const newDeployment = () => `m${randomBytes(5).toString('hex')}`;
const hold = (client: Client, type: string, workflowId: string, memo: Record<string, unknown>) =>
  client.workflow.start(type, { workflowId, taskQueue, args: [], memo });

/** Payloads that our clients never write. */
const garbage: Record<string, Payload> = {
  'of another encoding': { metadata: { encoding: Buffer.from('binary/ENCRYPTED') }, data: Buffer.from('x') },
  'that is only said to be encrypted': { metadata: { encoding: Buffer.from('binary/encrypted') }, data: null },
  'of a key with an odd name': {
    metadata: {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from(`\u001b[2J../\u0000${'x'.repeat(500)}`),
    },
    data: Buffer.alloc(64),
  },
  'that changed on the way': {
    metadata: { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from('here') },
    data: Buffer.alloc(64),
  },
  'that is no JSON': { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') },
  'without anything': {},
};

/** A memo with exactly this payload. */
function clientThatWrites(payload: Payload): Client {
  const codec = { encode: async (all: Payload[]) => all.map(() => payload), decode: async (all: Payload[]) => all };
  return clientWith({ payloadCodecs: [codec] });
}

describe('an unreadable memo', () => {
  it.each(Object.keys(garbage))('that %s does not break the lists of jobs and batches', async (what) => {
    const deployment = newDeployment();
    const writer = clientThatWrites(garbage[what] as Payload);
    await hold(mine, 'createThenPrompt', jobWorkflowId(deployment, 'good'), { prompt: 'mine', inputDigest: 'd' });
    await hold(writer, 'createThenPrompt', jobWorkflowId(deployment, 'bad'), { prompt: 'x' });
    await hold(mine, 'forkFanout', jobWorkflowId(deployment, 'good-batch'), { title: 'mine' });
    await hold(writer, 'forkFanout', jobWorkflowId(deployment, 'bad-batch'), { title: 'x' });
    const unreadable = { code: expect.any(String), message: expect.not.stringContaining('x'.repeat(100)) };
    for (const client of [mine, clear]) {
      await expect.poll(async () => (await listJobs(client, { deployment })).length).toBe(2);
      const rows = await listJobs(client, { deployment });
      expect(rows.find(({ jobId }) => jobId === 'bad')).toMatchObject({ prompt: null, unreadable });
      await expect.poll(async () => (await listFanouts(client, { deployment })).length).toBe(2);
      const batches = await listFanouts(client, { deployment });
      expect(batches.find(({ batchId }) => batchId === 'bad-batch')).toMatchObject({ title: null, unreadable });
    }
    const readable = (await listJobs(mine, { deployment })).find(({ jobId }) => jobId === 'good');
    expect(readable).toMatchObject({ prompt: 'mine', unreadable: null });
  });

  it('of a lost key is reported, and its job can be shown and cancelled without that key', async () => {
    const deployment = newDeployment();
    const job = { deployment, jobId: 'old' };
    await hold(stranger, 'createThenPrompt', jobWorkflowId(deployment, 'old'), { prompt: 'p', inputDigest: 'd' });
    await expect.poll(() => listJobs(mine, { deployment })).toHaveLength(1);
    const [row] = await listJobs(mine, { deployment });
    expect(row?.unreadable).toEqual({
      code: 'encryption_key_unknown',
      message: expect.stringContaining('"lost"'),
    });
    expect(await describeJob(mine, job)).toMatchObject({ status: { name: 'RUNNING' }, memo: {} });
    expect(await cancelJob(mine, job)).toEqual({ again: false });
  });
});

describe('a cleanup with an unreadable memo', () => {
  const strict = () => clientWith(createEncryptedDataConverter(here, { requireEncrypted: true }));

  it.each([
    ['was written in clear, where encryption is required', () => clear, strict],
    ['was encrypted with a lost key', () => stranger, () => mine],
  ])('deletes no sandbox whose job kept it according to a memo that %s', async (_, writer, reader) => {
    const deployment = newDeployment();
    const workflowId = jobWorkflowId(deployment, 'kept');
    const memo = { prompt: 'p', [endedKey('bx_kept')]: { name: null, end: 'kept', endedAtMs: 1 } };
    const handle = await hold(writer(), 'createThenPrompt', workflowId, memo);
    await handle.terminate();
    const execution = executionOf(handle.firstExecutionRunId);
    const name = ownedSandboxName({ deployment, jobId: 'kept', execution, step: 'main', generation: 1 });
    const ask = (client: Client, id: string) => createOwnerReader(client, deployment)({ id, name });
    expect(await ask(writer(), 'bx_kept')).toMatchObject({ status: 'kept' });
    expect(await ask(reader(), 'bx_kept')).toMatchObject({ status: 'unknown' });
  });

  it('treats a sandbox that was not kept as an orphan', async () => {
    const deployment = newDeployment();
    const workflowId = jobWorkflowId(deployment, 'orphan');
    const handle = await hold(clear, 'createThenPrompt', workflowId, { prompt: 'p' });
    await handle.terminate();
    const execution = executionOf(handle.firstExecutionRunId);
    const name = ownedSandboxName({ deployment, jobId: 'orphan', execution, step: 'main', generation: 1 });
    expect(await createOwnerReader(strict(), deployment)({ id: 'bx_1', name })).toMatchObject({ status: 'closed' });
  });

  it('does not ignore another run’s unencrypted record of the night if encryption is required', async () => {
    const deployment = newDeployment();
    const policy = readPolicy(policyFor('nightly', 'stop'), 'test');
    const { workflowId } = await startCleanup(clear, { deployment, taskQueue, policy, mode: 'apply' });
    const night = { deployment, policy, workflowId: 'another', nowMs: Date.now() };
    await expect.poll(async () => (await readNight(clear, night)).otherRun).toBe(workflowId);
    await expect(readNight(strict(), night)).rejects.toMatchObject({ code: 'not_encrypted' });
    expect(await listCleanups(strict(), { deployment })).toMatchObject([
      { mode: null, acted: null, unreadable: { code: 'not_encrypted' } },
    ]);
  });
});

it('a schedule with a lost key is listed, and can be written again with the current key', async () => {
  const deployment = newDeployment();
  const work = scheduledCleanup({ deployment, policy: readPolicy(policyFor('nightly', 'stop'), 'test') });
  const times = { cron: '0 3 * * *', zone: 'UTC' };
  const address = { deployment, name: 'nightly' };
  const schedule = { ...address, taskQueue, work, times, ifExists: 'replace' } as const;
  expect(await putSchedule(stranger, schedule)).toBe('created');
  await changeSchedule(stranger, 'pause', address);
  await expect
    .poll(() => listSchedules(mine, deployment))
    .toMatchObject([{ name: 'nightly', paused: true, times: null, unreadable: { code: 'encryption_key_unknown' } }]);
  expect(await putSchedule(mine, schedule)).toBe('replaced');
  expect(await listSchedules(mine, deployment)).toMatchObject([
    { name: 'nightly', paused: true, times, unreadable: null },
  ]);
  await changeSchedule(mine, 'remove', address);
});
