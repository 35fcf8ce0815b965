import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { agreeAtStart } from '../../src/cli/connect/key-agreement.js';
import { linkToTemporal, type TemporalLink } from '../../src/cli/connect/temporal-link.js';
import { newKeyLine, parseKeyRing } from '../../src/encryption/index.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import { agreeOnKeys } from '../../src/temporal/deployment-keys.js';

/** A connection to the run's Temporal server that can be closed and opened. */
interface Road {
  readonly address: string;
  open(): Promise<void>;
  shut(): Promise<void>;
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function createRoad(): Promise<Road> {
  const [host = '', serverPort] = inject('temporalAddress').split(':');
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const road = {
    async open() {
      server = createServer((near) => {
        const far = connect(Number(serverPort), host);
        for (const [from, to] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(from);
          from.on('error', () => to.destroy()).on('close', () => to.destroy());
          from.pipe(to);
        }
      });
      await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
      const address = server.address();
      if (address && typeof address === 'object') port = address.port;
    },
    async shut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
      server = undefined;
    },
  };
  await road.open();
  ends.push(road.shut);
  return { address: `127.0.0.1:${port}`, ...road };
}

const ask =
  ({ client }: TemporalLink) =>
  () =>
    client.workflowService.getClusterInfo({});

test('D6: a command waits for a Temporal that is unavailable when it begins', async () => {
  const road = await createRoad();
  await road.shut();
  const linking = linkToTemporal({ address: road.address }, { timeoutMs: 20_000 });
  await sleep(1_500);
  await road.open();
  const link = await linking;
  ends.push(link.close);
  await ask(link)();
});

test('D6: a start survives a temporarily unavailable Temporal, and a watch notices it soon', async () => {
  const road = await createRoad();
  const link = await linkToTemporal({ address: road.address }, { timeoutMs: 20_000 });
  ends.push(link.close);
  await ask(link)();
  await road.shut();
  await expect(ask(link)()).rejects.toMatchObject({ code: 14 });
  const patient = link.patiently(20_000, ask(link));
  await sleep(3_000);
  await road.open();
  await patient;
});

test('D6: a connection is closed while one of its calls waits for a retry', async () => {
  const road = await createRoad();
  const { connection } = await connectTemporal({ address: road.address });
  await road.shut();
  const asked = connection.workflowService.getClusterInfo({});
  asked.catch(() => undefined);
  // The first pause is short, and the third is not.
  await sleep(400);
  await connection.close();
  await expect(asked).rejects.toMatchObject({ code: 14, details: 'The connection to Temporal is closed' });
  await expect(connection.workflowService.getClusterInfo({})).rejects.toMatchObject({ code: 14 });
  // A retry after the end would be an unhandled error, which fails the run.
  await sleep(3_000);
});

test('D6: Ctrl-C ends the wait for an unavailable Temporal', async () => {
  const road = await createRoad();
  await road.shut();
  const stop = new AbortController();
  const linking = linkToTemporal({ address: road.address }, { timeoutMs: 30_000, signal: stop.signal });
  setTimeout(() => stop.abort('SIGINT'), 200);
  const startedAt = Date.now();
  await expect(linking).rejects.toBe('SIGINT');
  expect(Date.now() - startedAt).toBeLessThan(15_000);
  // The SDK itself abandons the late connection.
  await sleep(100);
});

test('C6: a server starts although Temporal does not answer, and ends when Temporal shows that its keys do not match', async () => {
  const deployment = `away-${randomBytes(5).toString('hex')}`;
  const direct = await connectTemporal({ connectionOptions: { address: inject('temporalAddress') } });
  ends.push(() => direct.connection.close());
  await agreeOnKeys(direct, { deployment, ring: parseKeyRing(newKeyLine('theirs')), announce: true });
  const road = await createRoad();
  const away = await connectTemporal({ connectionOptions: { address: road.address } });
  ends.push(() => away.connection.close());
  await road.shut();
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
  await road.open();
  await expect(keys.refused).rejects.toMatchObject({ code: 'bad_configuration' });
});
