import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { askSupervisor, joinSupervisor } from '../../../src/supervisor/control-client.js';
import type { StackStatus } from '../../../src/supervisor/control-protocol.js';
import { type ControlServer, openControlServer } from '../../../src/supervisor/control-server.js';

const status: StackStatus = {
  ...{ state: 'ready', pid: 1, startedAt: '2026-01-01T00:00:00.000Z', foreground: false, kept: false, endsAt: null },
  ...{ stack: null, parts: {}, clients: [], openJobs: 0, openIds: [], activeSchedules: 0, scheduleNames: [] },
  ...{ undeliveredCount: 0, undelivered: [] },
};

const megabyte = 1024 * 1024;
/** The unread bytes that kernel buffers may hold. */
const roomOfTheKernel = 16 * megabyte;

describe('the port of the supervisor, which every program and page of this machine reaches', () => {
  let directory: string;
  let stateFile: string;
  let control: ControlServer;
  const opened: Socket[] = [];
  const answer = async () => status;
  const stranger = (port = Number(stateOf(stateFile).port)): Socket => {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
    opened.push(socket);
    return socket;
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sandflow-control-'));
    stateFile = join(directory, 'supervisor.json');
    control = await openControlServer(stateFile, { settings: 'digest', answer });
  });
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    await control.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('limits a line without an end, which would fill the memory', async () => {
    withoutTimeLimits();
    expect(await written(stranger(), Buffer.alloc(megabyte, 'a'))).toBeLessThan(roomOfTheKernel);
    expect(await askSupervisor(stateFile, 'status')).toEqual(status);
  });

  it('answers one request of a stranger, and buffers no unread answers', async () => {
    withoutTimeLimits();
    const socket = stranger().pause();
    const questions = `${JSON.stringify({ nonce: 'x'.repeat(48) })}\n`.repeat(10_000);
    expect(await written(socket, Buffer.from(questions))).toBeLessThan(roomOfTheKernel);
    expect(await askSupervisor(stateFile, 'status')).toEqual(status);
  });

  it('accepts a client among silent strangers', async () => {
    control.ready({ temporalAddress: 'a', namespace: 'b', sandboxApiUrl: 'c' });
    const strangers = Array.from({ length: 300 }, () => stranger());
    await expect.poll(() => strangers.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(200);
    const joined = await joinSupervisor({ stateFile, settings: 'digest', onProgress: () => undefined });
    expect(joined).toMatchObject({ stack: { namespace: 'b' } });
    if (typeof joined === 'object') joined.release();
  });

  it('rejects a client that has the supervisor itself answer its challenges', async () => {
    const entering = stranger();
    const asking = stranger();
    const heard = (socket: Socket) =>
      new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    entering.write(`${JSON.stringify({ nonce: 'x'.repeat(48) })}\n`);
    const { nonce } = JSON.parse(await heard(entering)) as { nonce: string };
    asking.write(`${JSON.stringify({ nonce })}\n`);
    const { proof } = JSON.parse(await heard(asking)) as { proof: string };
    const closed = new Promise((resolve) => entering.once('close', resolve));
    entering.write(`${JSON.stringify({ proof, settings: 'digest' })}\n`);
    await closed;
    expect(control.clients()).toEqual([]);
  });

  it('limits what a client accepts from a false supervisor', async () => {
    withoutTimeLimits();
    let sent: number | undefined;
    const impostor = createServer((socket) => {
      void written(socket, Buffer.alloc(megabyte, 'a')).then((bytes) => {
        sent = bytes;
      });
    });
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    const address = impostor.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    writeFileSync(stateFile, JSON.stringify({ ...stateOf(stateFile), port }), { mode: 0o600 });
    expect(await joinSupervisor({ stateFile, settings: 'digest', onProgress: () => undefined })).toBe('nobody');
    await expect.poll(() => sent).toBeDefined();
    expect(sent).toBeLessThan(roomOfTheKernel);
    await new Promise((resolve) => impostor.close(resolve));
  });
});

/** Otherwise a connection of a slow machine is closed because of its age, whatever it has sent. */
function withoutTimeLimits(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

function stateOf(file: string): { readonly port: number; readonly token: string } {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Repeats one message until the other side closes, or has accepted far too much. @returns how many bytes it accepted */
async function written(socket: Socket, piece: Buffer): Promise<number> {
  const most = 64 * megabyte;
  socket.on('error', () => undefined);
  for (let bytes = 0; ; bytes += piece.length) {
    const taken = new Promise<boolean>((resolve) => socket.write(piece, (error) => resolve(!error)));
    if (bytes >= most || !(await taken)) return bytes;
  }
}
