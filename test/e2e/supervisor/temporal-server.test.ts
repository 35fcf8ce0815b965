import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { clientOfWorker, connectWorker } from '../../../src/temporal/connect-worker.js';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
} from '../../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../../src/temporal-server/find.js';
import { isAlive } from '../../setup/stack-harness.js';
import { unlessTaken } from '../../unit/os/free-ports.js';

let binary: string;
let directory: string;
const servers: EmbeddedServer[] = [];

beforeAll(async () => {
  binary = await findTemporalServer(readConfig());
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sandflow-temporal-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(options: Partial<EmbeddedServerOptions> = {}): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ binary, logFile: join(directory, 'temporal.log'), ...options });
  servers.push(server);
  return server;
}

describe('the embedded Temporal server', () => {
  it('answers as soon as its start returns, and keeps closed workflows for 30 days', async () => {
    const { address } = await start();
    const client = await connectTemporal({ address });
    try {
      const { config } = await client.workflowService.describeNamespace({ namespace: 'default' });
      expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 60 * 60);
      await client.workflow.start('anything', { taskQueue: 'q', workflowId: 'w', args: [] });
      await expect.poll(async () => (await client.workflow.count()).count).toBe(1);
    } finally {
      await client.connection.close();
    }
  });

  it('keeps its workflows in the file when it is killed, in a folder of any name', async () => {
    const folder = join(directory, 'a #1 %2F?b');
    mkdirSync(folder);
    // Another program may take the port meanwhile.
    await unlessTaken(async (round) => {
      const databaseFile = join(folder, `temporal-${round}.db`);
      const first = await start({ databaseFile });
      const client = await connectTemporal({ address: first.address });
      try {
        await client.workflow.start('anything', { taskQueue: 'q', workflowId: 'w', args: [] });
        process.kill(first.pid, 'SIGKILL');
        await first.exited;
        const port = Number(first.address.split(':')[1]);
        if ((await start({ databaseFile, port })).address !== first.address) return false;
        expect((await client.workflow.getHandle('w').describe()).status.name).toBe('RUNNING');
        expect(existsSync(databaseFile)).toBe(true);
        return true;
      } finally {
        await client.connection.close();
      }
    });
  });

  it('takes another port if the preferred one is in use, and serves a web interface only on request', async () => {
    const other: Server = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const taken = other.address();
    const port = typeof taken === 'object' && taken ? taken.port : 0;
    try {
      const server = await start({ port, uiPort: 0 });
      expect(server.address).not.toBe(`127.0.0.1:${port}`);
      expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
      expect((await start()).uiUrl).toBeUndefined();
    } finally {
      await new Promise((resolve) => other.close(resolve));
    }
  });

  it('starts again if another process takes a port first, whatever it logs about it', async () => {
    const late = join(directory, 'late');
    const trace = 'head -c 200000 /dev/zero | tr "\\0" x';
    const lines = [`if mkdir ${directory}/tried; then echo 'bind: address already in use'; ${trace}; exit 1; fi`];
    writeFileSync(late, ['#!/bin/sh', ...lines, `exec ${binary} "$@"`, ''].join('\n'), { mode: 0o755 });
    expect(isAlive((await start({ binary: late })).pid)).toBe(true);
  });

  it('reports the end of its output if it does not start, and ends an aborted start', async () => {
    const databaseFile = join(directory, 'folder');
    mkdirSync(databaseFile);
    await expect(start({ databaseFile })).rejects.toMatchObject({
      code: 'temporal_start_failed',
      message: expect.stringContaining('unable to open database file'),
    });
    expect(readFileSync(join(directory, 'temporal.log'), 'utf8')).not.toBe('');
    const controller = new AbortController();
    const starting = start({ signal: controller.signal });
    controller.abort(new Error('no longer'));
    await expect(starting).rejects.toThrow('no longer');
  });

  it('has ended when stop returns', async () => {
    const server = await start();
    await server.stop();
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });
});

describe('connecting to Temporal', () => {
  it('gives a worker a connection that clients can use too', async () => {
    const { address } = await start();
    const worker = await connectWorker({ address, namespace: 'default' });
    try {
      const client = clientOfWorker(worker);
      const handle = await client.workflow.start('anything', { taskQueue: 'q', workflowId: 'w', args: [] });
      expect((await handle.describe()).status.name).toBe('RUNNING');
    } finally {
      await worker.connection.close();
    }
  });

  it.each([
    ['client', () => connectTemporal({ address: '127.0.0.1:1' }, { timeoutMs: 500 })],
    ['worker', () => connectWorker({ address: '127.0.0.1:1' }, { timeoutMs: 500 })],
  ])('reports as a %s that nobody answers, with the address and what to do', async (_, connecting) => {
    await expect(connecting()).rejects.toMatchObject({
      code: 'temporal_unreachable',
      message: expect.stringMatching(/Temporal at 127\.0\.0\.1:1 cannot be reached.*TEMPORAL_ADDRESS/),
    });
  });

  it('waits no longer than its timeout for a server that accepts and does not answer', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const bound = silent.address();
    const address = `127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`;
    const sockets = new Set<{ destroy(): void }>();
    silent.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
    try {
      await expect(connectWorker({ address }, { timeoutMs: 300 })).rejects.toMatchObject({
        code: 'temporal_unreachable',
      });
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => silent.close(resolve));
    }
  });
});
