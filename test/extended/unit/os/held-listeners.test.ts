/**
 * Strangers who hold connections of every listener of the program, and its owner beside them.
 * Tier: all. Some 2,000 connections on loopback, a few CPU seconds.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, startService } from '../../../../local-service/test/service/service-under-test.js';
import { connect, keyPair, run, sshUnderTest } from '../../../../local-service/test/service/ssh/ssh-fixture.js';
import { createBridge } from '../../../../src/bridge/index.js';
import { serveHealth } from '../../../../src/cli/serve/serve-health.js';
import { createCodecServer, createPayloadCodec, newKeyLine, parseKeyRing } from '../../../../src/encryption/index.js';
import { freePort } from '../../../../src/os/free-port.js';
import { askSupervisor } from '../../../../src/supervisor/control-client.js';
import type { StackStatus } from '../../../../src/supervisor/control-protocol.js';
import { openControlServer } from '../../../../src/supervisor/control-server.js';

interface Held {
  readonly port: number;
  /** Resolves if the owner gets what they ask for. */
  readonly ask: () => Promise<unknown>;
  /** Resolves if the owner's connection, which has a login, was not closed for strangers. Undefined without logins. */
  readonly stay?: () => Promise<unknown>;
}

interface Listener {
  readonly name: string;
  /** The most connections of strangers. */
  readonly most: number;
  readonly half: string;
  readonly open: () => Promise<Held>;
}

const halfRequest = 'POST /v1/sandboxes HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n';

/** One connection, which is used again and again. */
function caller(port: number, path: string, headers: Record<string, string> = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const call = () =>
    new Promise<{ status: number | undefined; isSame: boolean }>((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path, headers, agent }, (answer) => {
        answer.resume().once('end', () => resolve({ status: answer.statusCode, isSame: asked.reusedSocket }));
      });
      asked.once('error', reject).end();
    });
  return call;
}

async function heldHttp(port: number, path: string, headers?: Record<string, string>): Promise<Held> {
  const held = caller(port, path, headers);
  // The codec server decodes nothing for GET, but says so only to whoever has the token.
  const answered = path === '/decode' ? 405 : 200;
  expect((await held()).status).toBe(answered);
  const ask = async () => expect(await caller(port, path, headers)()).toMatchObject({ status: answered });
  if (headers === undefined) return { port, ask };
  return { port, ask, stay: async () => expect(await held()).toEqual({ status: answered, isSame: true }) };
}

function ownBridge() {
  const bridge = createBridge({ temporalClient: {} as Client, secrets: () => ['whsec_test'], closeGraceMs: 0 });
  onTestFinished(() => bridge.close());
  return bridge;
}

const listeners: readonly Listener[] = [
  {
    name: 'the local service',
    most: 1_000,
    half: halfRequest,
    open: async () => {
      const { service } = await startService();
      return await heldHttp(Number(new URL(service.url).port), '/v1/me', { authorization: `Bearer ${apiKey}` });
    },
  },
  {
    name: 'the address of a sandbox',
    most: 1_000,
    half: halfRequest,
    open: async () => {
      const stand = await startService();
      const { url = '' } = await stand.reach(await stand.ready(), 'ready', 'idle');
      const { host, port, pathname, search } = new URL(url ?? '');
      return await heldHttp(Number(port), `${pathname}${search}`, { host });
    },
  },
  {
    name: 'the SSH port of a sandbox',
    most: 64,
    half: 'SSH-2.0-half',
    open: async () => {
      const key = keyPair();
      const { port } = await sshUnderTest('plain', [key]);
      const inside = await connect(port, key);
      const ask = async () => expect((await run(await connect(port, key), 'echo in')).stdout).toBe('in\n');
      return { port, ask, stay: async () => expect((await run(inside, 'echo in')).stdout).toBe('in\n') };
    },
  },
  {
    name: 'a bridge',
    most: 500,
    half: halfRequest,
    open: async () => {
      return await heldHttp((await ownBridge().listen({ port: 0 })).port, '/healthz');
    },
  },
  {
    name: 'the metrics of a bridge',
    most: 500,
    half: halfRequest,
    open: async () => {
      const { metricsUrl = '' } = await ownBridge().listen({ port: 0, metrics: { port: 0 } });
      return await heldHttp(Number(new URL(metricsUrl).port), '/metrics');
    },
  },
  {
    name: 'the codec server',
    most: 500,
    half: halfRequest,
    open: async () => {
      const token = 'a-token-of-the-test-0123456789';
      const codec = createPayloadCodec(parseKeyRing(newKeyLine('k')));
      const server = createCodecServer({ codec, token, origins: [] });
      onTestFinished(() => server.close());
      const { port } = await server.listen({ port: 0 });
      return await heldHttp(port, '/decode', { authorization: `Bearer ${token}` });
    },
  },
  {
    name: 'the probes of a worker',
    most: 100,
    half: halfRequest,
    open: async () => {
      const port = await freePort();
      onTestFinished(await serveHealth({ host: '127.0.0.1', port }, async () => undefined));
      return await heldHttp(port, '/healthz');
    },
  },
  {
    name: 'the supervisor',
    most: 64,
    half: '{"nonce":',
    open: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sandflow-held-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const stateFile = join(folder, 'supervisor.json');
      const stack = { temporalAddress: '127.0.0.1:7233', namespace: 'default', sandboxApiUrl: 'http://127.0.0.1:1/v1' };
      const status: StackStatus = {
        state: 'ready',
        pid: 1,
        startedAt: '2026-01-01T00:00:00.000Z',
        foreground: false,
        kept: false,
        endsAt: null,
        stack,
        parts: { worker: 2, bridge: null },
        clients: [],
        openJobs: null,
        openIds: [],
        activeSchedules: 0,
        scheduleNames: [],
        undeliveredCount: 0,
        undelivered: [],
      };
      const control = await openControlServer(stateFile, { settings: 'x', answer: async () => status });
      onTestFinished(() => control.close());
      const { port } = JSON.parse(readFileSync(stateFile, 'utf8')) as Held;
      return { port, ask: async () => expect(await askSupervisor(stateFile, 'status')).toEqual(status) };
    },
  },
];

/** Resolves when the connection is open. */
function stranger(port: number, text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1', () => {
      socket.write(text);
      resolve(socket.resume());
    });
    socket.on('error', () => resolve(socket));
    onTestFinished(() => void socket.destroy());
  });
}

describe.each(listeners)('$name', ({ most, half, open }) => {
  test.each([
    ['who say nothing', ''],
    ['who send half of a request', half],
  ])(
    'serves its owner beside more strangers than it takes, %s, and closes the oldest',
    async (_, text) => {
      const { port, ask, stay } = await open();
      const more = 30;
      const strangers: Socket[] = [];
      for (let count = 0; count < most + more; count += 1) strangers.push(await stranger(port, text));
      await vi.waitFor(() => expect(strangers.slice(0, more).every(({ closed }) => closed)).toBe(true), 20_000);
      await ask();
      await stay?.();
      expect(strangers.slice(-10).some(({ closed }) => closed)).toBe(false);
    },
    60_000,
  );
});
