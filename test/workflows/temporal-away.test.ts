import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { agreeAtStart } from '../../src/cli/connect/key-agreement.js';
import { linkToTemporal } from '../../src/cli/connect/temporal-link.js';
import { newKeyLine, parseKeyRing } from '../../src/encryption/index.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import { agreeOnKeys } from '../../src/temporal/deployment-keys.js';
import { createRoad as openRoad, type Road } from './road-to-temporal.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function createRoad(): Promise<Road> {
  const road = await openRoad();
  ends.push(road.close);
  return road;
}

const ask =
  ({ client }: Awaited<ReturnType<typeof linkToTemporal>>) =>
  () =>
    client.workflowService.getClusterInfo({});

test('a command waits for a Temporal that is unavailable when it begins', async () => {
  const road = await createRoad();
  road.shut();
  const linking = linkToTemporal({ address: road.address }, { timeoutMs: 120_000 });
  await expect.poll(road.refused).toBeGreaterThan(1);
  road.open();
  const link = await linking;
  ends.push(link.close);
  await ask(link)();
});

test('a start survives a temporarily unavailable Temporal, and a watch notices it soon', async () => {
  const road = await createRoad();
  const link = await linkToTemporal({ address: road.address }, { timeoutMs: 120_000 });
  ends.push(link.close);
  await ask(link)();
  road.shut();
  await expect(ask(link)()).rejects.toMatchObject({ code: 14 });
  const before = road.refused();
  const patient = link.patiently(120_000, ask(link));
  // gRPC waits for longer and longer before it connects again, and a call is repeated meanwhile.
  await expect.poll(road.refused).toBeGreaterThan(before + 2);
  road.open();
  await patient;
});

test('a connection is closed while one of its calls waits for a retry', async () => {
  const road = await createRoad();
  const { connection } = await connectTemporal({ address: road.address });
  road.shut();
  const asked = connection.workflowService.getClusterInfo({});
  asked.catch(() => undefined);
  await expect.poll(road.refused).toBeGreaterThan(0);
  await connection.close();
  await expect(asked).rejects.toMatchObject({ code: 14, details: 'The connection to Temporal is closed' });
  await expect(connection.workflowService.getClusterInfo({})).rejects.toMatchObject({ code: 14 });
  // A retry after the end would be an unhandled error, which fails the run.
  await sleep(3_000);
});

test('Ctrl-C ends the wait for an unavailable Temporal', async () => {
  const road = await createRoad();
  road.shut();
  const stop = new AbortController();
  // Without Ctrl-C, it would wait for longer than the test may take.
  const linking = linkToTemporal({ address: road.address }, { timeoutMs: 900_000, signal: stop.signal });
  linking.catch(() => undefined);
  await expect.poll(road.refused).toBeGreaterThan(0);
  stop.abort('SIGINT');
  await expect(linking).rejects.toBe('SIGINT');
  // The SDK itself abandons the late connection.
  await sleep(100);
});

test('a server starts although Temporal does not answer, and ends when Temporal shows that its keys do not match', async () => {
  const deployment = `away-${randomBytes(5).toString('hex')}`;
  const direct = await connectTemporal({ connectionOptions: { address: inject('temporalAddress') } });
  ends.push(() => direct.connection.close());
  const theirs = { deployment, ring: parseKeyRing(newKeyLine('theirs')), announce: true };
  await expect.poll(async () => (await agreeOnKeys(direct, theirs)).kind).toBe('agreed');
  const road = await createRoad();
  const away = await connectTemporal({ connectionOptions: { address: road.address } });
  ends.push(() => away.connection.close());
  road.shut();
  const notices: string[] = [];
  const abort = new AbortController();
  const keys = await agreeAtStart(away, {
    deployment,
    ring: parseKeyRing(newKeyLine('ours')),
    notice: (text) => void notices.push(text),
    signal: abort.signal,
    askAgainMs: 100,
  });
  ends.push(async () => keys.stop());
  expect(notices).toEqual([expect.stringMatching(/^Cannot read the deployment's keys from Temporal .*; retrying\.$/s)]);
  road.open();
  await expect(keys.refused).rejects.toMatchObject({ code: 'bad_configuration' });
});
