import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askSupervisor, joinSupervisor } from '../../../src/supervisor/control-client.js';
import { type Ask, controlVersion, type StackStatus } from '../../../src/supervisor/control-protocol.js';
import { type ControlServer, openControlServer } from '../../../src/supervisor/control-server.js';

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

describe('the control connection', () => {
  const asked: Ask[] = [];
  const answer = async (ask: Ask): Promise<StackStatus> => {
    asked.push(ask);
    return { ...status, clients: [...control.clients()] };
  };
  let directory: string;
  let stateFile: string;
  let control: ControlServer;
  const enter = (onProgress: (line: string) => void = () => undefined, signal?: AbortSignal) =>
    joinSupervisor({ stateFile, settings: 'digest', onProgress, signal });

  beforeEach(async () => {
    asked.length = 0;
    directory = mkdtempSync(join(tmpdir(), 'sandflow-control-'));
    stateFile = join(directory, 'supervisor.json');
    control = await openControlServer(stateFile, { settings: 'digest', answer });
  });
  afterEach(async () => {
    await control.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('reports progress to a waiting client, including what happened before, and returns the stack', async () => {
    control.progress('one');
    const onProgress = vi.fn();
    const joining = enter(onProgress);
    await expect.poll(() => onProgress.mock.calls.flat()).toEqual(['one']);
    control.progress('two');
    control.ready(stack);
    const presence = await joining;
    expect(presence).toMatchObject({ stack });
    expect(onProgress.mock.calls.flat()).toEqual(['one', 'two']);
    expect(control.clients()).toHaveLength(1);
    if (typeof presence === 'object') presence.release();
    await expect.poll(() => control.clients()).toEqual([]);
  });

  it('reports no progress to a client that finds the stack ready', async () => {
    control.progress('starting');
    control.ready(stack);
    const onProgress = vi.fn();
    const presence = await enter(onProgress);
    expect(presence).toMatchObject({ stack });
    expect(onProgress).not.toHaveBeenCalled();
    if (typeof presence === 'object') presence.release();
  });

  it('passes on why the stack cannot start', async () => {
    const joining = enter();
    joining.catch(() => undefined);
    await expect.poll(() => control.clients()).toHaveLength(1);
    control.failed('temporal_server_missing', 'Install one.');
    await expect(joining).rejects.toMatchObject({ code: 'temporal_server_missing', message: 'Install one.' });
  });

  it('reports the end of the supervisor, before and after the stack is ready', async () => {
    const joining = enter();
    await expect.poll(() => control.clients()).toHaveLength(1);
    await control.close();
    expect(await joining).toBe('lost');
    expect(existsSync(stateFile)).toBe(false);
    expect(await enter()).toBe('nobody');
    control = await openControlServer(stateFile, { settings: 'digest', answer });
    control.ready(stack);
    const presence = await enter();
    await control.close();
    if (typeof presence === 'string') throw new Error('it has not joined');
    await presence.lost;
  });

  it('keeps its token in a file for its owner only and accepts nobody without it', async () => {
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
    const { port } = JSON.parse(readFileSync(stateFile, 'utf8')) as { port: number };
    const stranger = connect({ host: '127.0.0.1', port });
    stranger.write(`${JSON.stringify({ nonce: 'x'.repeat(48) })}\n`);
    stranger.write(`${JSON.stringify({ proof: 'x'.repeat(64), settings: 'digest' })}\n`);
    let answer = '';
    stranger.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    await new Promise((resolve) => stranger.once('close', resolve));
    expect(answer.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(answer)).toMatchObject({ type: 'hello' });
    expect(answer).not.toContain(JSON.parse(readFileSync(stateFile, 'utf8')).token);
    expect(control.clients()).toEqual([]);
  });

  it('trusts no process on the port of a dead supervisor, and shows it no token', async () => {
    let heard = '';
    const ready = { type: 'ready', stack: { ...stack, sandboxApiUrl: 'http://127.0.0.1:6666/v1' } };
    const impostor = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          heard += chunk.toString();
        });
      const hello = { type: 'hello', pid: 1, proof: 'x'.repeat(64), nonce: 'x'.repeat(48) };
      for (const message of [hello, ready]) socket.write(`${JSON.stringify(message)}\n`);
    });
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    try {
      const address = impostor.address();
      const state = JSON.parse(readFileSync(stateFile, 'utf8')) as { token: string };
      const port = typeof address === 'object' && address ? address.port : 0;
      writeFileSync(stateFile, JSON.stringify({ ...state, port }), { mode: 0o600 });
      expect(await enter()).toBe('nobody');
      expect(await askSupervisor(stateFile, 'status')).toBeUndefined();
      await expect.poll(() => heard.split('\n')).toHaveLength(3);
      expect(heard).not.toContain(state.token);
      expect(heard).not.toContain('digest');
    } finally {
      await new Promise((resolve) => impostor.close(resolve));
    }
  });

  it('reads no file that a supervisor’s answer names', async () => {
    control.ready({ ...stack, sandboxApiKeyFile: '/home/victim/.ssh/id_ed25519' } as typeof stack);
    const presence = await enter();
    if (typeof presence === 'string') throw new Error('it has not joined');
    expect(presence.stack).toEqual(stack);
    presence.release();
  });

  it('refuses other settings without counting that client', async () => {
    const other = joinSupervisor({ stateFile, settings: 'other', onProgress: () => undefined });
    await expect(other).rejects.toMatchObject({ code: 'stack_differs' });
    expect(await askSupervisor(stateFile, 'status')).toMatchObject({ state: 'ready' });
    expect(control.clients()).toEqual([]);
  });

  it('answers a command about the stack, names the clients, and does not count the command as one', async () => {
    control.ready(stack);
    const client = { pid: 7, command: 'jobs watch' };
    const presence = await joinSupervisor({ stateFile, settings: 'digest', client, onProgress: () => undefined });
    expect(await askSupervisor(stateFile, 'status')).toEqual({
      ...status,
      clients: [{ ...client, since: expect.stringMatching(/^\d{4}-.*Z$/) }],
    });
    expect(asked).toEqual(['status']);
    if (typeof presence === 'object') presence.release();
    await control.close();
    expect(await askSupervisor(stateFile, 'end')).toBeUndefined();
    expect(asked).toEqual(['status']);
  });

  it('ends no stack for a program that does not know the token', async () => {
    const { port } = JSON.parse(readFileSync(stateFile, 'utf8')) as { port: number };
    const stranger = connect({ host: '127.0.0.1', port });
    stranger.write(`${JSON.stringify({ nonce: 'x'.repeat(48) })}\n`);
    stranger.write(`${JSON.stringify({ proof: 'x'.repeat(64), ask: 'force_end' })}\n`);
    await new Promise((resolve) => stranger.resume().once('close', resolve));
    expect(asked).toEqual([]);
  });

  it('refuses a running supervisor of another version, and ignores one that has ended', async () => {
    const keep = (change: object) =>
      writeFileSync(stateFile, JSON.stringify({ ...JSON.parse(readFileSync(stateFile, 'utf8')), ...change }));
    keep({ version: controlVersion + 1 });
    const refusal = { code: 'stack_of_other_version', message: expect.stringContaining(`as process ${process.pid}.`) };
    await expect(enter()).rejects.toMatchObject(refusal);
    await expect(askSupervisor(stateFile, 'status')).rejects.toMatchObject(refusal);
    keep({ pid: 2 ** 22 + 1 });
    expect(await enter()).toBe('nobody');
  });

  it('lets a waiting client leave', async () => {
    const controller = new AbortController();
    const joining = enter(undefined, controller.signal);
    await expect.poll(() => control.clients()).toHaveLength(1);
    controller.abort();
    await expect(joining).rejects.toThrow();
    await expect.poll(() => control.clients()).toEqual([]);
  });
});
