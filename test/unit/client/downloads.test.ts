import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiError, type CallRecord, ConnectionError, TimeoutError } from '../../../src/client/index.js';
import { createClosing, errorBody, rejectionOf, sendJson, startStand, startTcpStand } from './http-harness.js';

const closing = createClosing();
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-download-'));
});
afterEach(async () => {
  await closing.closeAll();
  await rm(directory, { recursive: true });
});

const to = () => join(directory, 'file');
const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`;

/** Answers every request with these bytes and then closes, or sends nothing more. */
async function tcpClient(bytes: string, { closes = true, timeoutMs = 120_000, onClose = () => {} } = {}) {
  const stand = await startTcpStand((socket) => {
    socket.once('data', () => (closes ? socket.end(bytes) : socket.write(bytes)));
    socket.once('close', onClose);
  });
  return closing.client(closing.keep(stand), { timeoutMs });
}

/** Replaces the timer of this limit by one that only `pass` moves. The limit must be one that nobody else sets. */
function holdLimit(limitMs: number) {
  let leftMs = Number.POSITIVE_INFINITY;
  let late = (): void => undefined;
  const timer = {
    refresh() {
      leftMs = limitMs;
      return timer;
    },
  };
  const original = globalThis.setTimeout;
  const replaced = (...given: Parameters<typeof setTimeout>) => {
    const [run, ms] = given;
    if (ms !== limitMs) return original(...given);
    late = run;
    return timer.refresh();
  };
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(replaced as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  return {
    pass(ms: number) {
      leftMs -= ms;
      if (leftMs <= 0) late();
    },
  };
}

describe('a download to a file', () => {
  it('returns its path, size and type', async () => {
    const content = Buffer.from('ü\u0000bytes');
    const stand = closing.keep(await startStand((_, response) => response.end(content)));
    const saved = await closing.client(stand).downloadSnapshot('snap_1', { to: to() });
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(saved).toEqual({ path: to(), sizeBytes: content.length, sha256 });
    expect(await readFile(to())).toEqual(content);
    expect((await stat(to())).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('can be repeated, and the file is the last complete one', async () => {
    let turn = 0;
    const stand = closing.keep(await startStand((_, response) => response.end(`turn ${++turn}`)));
    const client = closing.client(stand);
    await client.downloadSnapshot('snap_1', { to: to() });
    await client.downloadSnapshot('snap_1', { to: to() });
    expect(await readFile(to(), 'utf8')).toBe('turn 2');
  });

  it.each([
    ['shorter than its content-length', `${head(10)}half`],
    ['cut off between its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('that is %s fails and keeps the existing file', async (_, bytes) => {
    await writeFile(to(), 'before');
    const error = await rejectionOf((await tcpClient(bytes)).downloadArtifact('bx_1', 'a', { to: to() }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ endpoint: 'downloadArtifact' });
    expect(await readdir(directory)).toEqual(['file']);
    expect(await readFile(to(), 'utf8')).toBe('before');
  });

  it('ends with its connection if nothing arrives within the silence limit', async () => {
    const onClose = vi.fn();
    let timeoutMs = 30;
    let error: unknown;
    // A busy machine may take longer to connect.
    do {
      timeoutMs *= 2;
      const client = await tcpClient(`${head(10)}half`, { closes: false, timeoutMs, onClose });
      error = await rejectionOf(client.downloadArtifact('bx_1', 'a', { to: to() }));
      expect(error).toBeInstanceOf(TimeoutError);
    } while (!(error as TimeoutError).requestSent);
    expect(String(error)).toContain(`No data from the service for ${timeoutMs} ms`);
    await expect.poll(() => onClose).toHaveBeenCalled();
    expect(await readdir(directory)).toEqual([]);
  });

  it('may last longer than the silence limit while bytes arrive', async () => {
    const silenceMs = 23_456;
    const limit = holdLimit(silenceMs);
    let sender: ServerResponse | undefined;
    const stand = closing.keep(
      await startStand((_, response) => {
        sender = response;
        response.write('x');
      }),
    );
    const saving = closing.client(stand, { timeoutMs: silenceMs }).downloadSnapshot('snap_1', { to: to() });
    const failed = saving.then(() => 0, String);
    const written = async () => {
      const [name] = await readdir(directory);
      return name === undefined ? 0 : (await stat(join(directory, name))).size;
    };
    for (let pieces = 1; pieces < 8; pieces += 1) {
      await expect.poll(() => Promise.race([written(), failed])).toBe(pieces);
      limit.pass(silenceMs - 1);
      sender?.write('x');
    }
    sender?.end();
    expect((await saving).sizeBytes).toBe(8);
  });

  it('rejects with the reason of an abort, closes the connection and leaves no file', async () => {
    const onClose = vi.fn();
    const client = await tcpClient(`${head(10)}half`, { closes: false, onClose });
    const controller = new AbortController();
    const reason = { why: 'cancelled' };
    const options = { to: to(), signal: controller.signal };
    const rejection = rejectionOf(client.downloadArtifact('bx_1', 'a', options));
    await expect.poll(() => readdir(directory)).toHaveLength(1);
    controller.abort(reason);
    expect(await rejection).toBe(reason);
    await expect.poll(() => onClose).toHaveBeenCalled();
    expect(await readdir(directory)).toEqual([]);
  });

  it('results in the usual typed error if it is refused, without the key', async () => {
    const body = errorBody(409, 'snapshot_data_expired', 'gone with key_secret');
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 409, body)));
    const records: CallRecord[] = [];
    const client = closing.client(stand, { onCall: (record) => records.push(record) });
    const error = await rejectionOf(client.downloadSnapshot('snap_1', { to: to() }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'snapshot_data_expired', typed: true, endpoint: 'downloadSnapshot' });
    expect(String(error)).not.toContain('key_secret');
    expect(records).toMatchObject([{ status: 409, errorCode: 'snapshot_data_expired', requestId: 'req_1' }]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('fails if the file cannot be written, and closes its connection', async () => {
    const stand = closing.keep(await startStand((_, response) => response.end('bytes')));
    const missing = join(directory, 'none', 'file');
    const client = closing.client(stand);
    await expect(client.downloadSnapshot('snap_1', { to: missing })).rejects.toMatchObject({
      code: 'download_not_written',
      message: expect.stringContaining('ENOENT'),
    });
    await mkdir(to());
    await expect(client.downloadSnapshot('snap_1', { to: to() })).rejects.toMatchObject({
      code: 'download_not_written',
    });
    expect(await readdir(directory)).toEqual(['file']);
  });
});

describe('a download as a stream', () => {
  it('has its size and type before the first byte, and reports the call after the last', async () => {
    const records: CallRecord[] = [];
    const stand = closing.keep(
      await startStand((_, response) => {
        response.writeHead(200, { 'content-type': 'application/gzip', 'content-length': 5 }).end('bytes');
      }),
    );
    const client = closing.client(stand, { onCall: (record) => records.push(record) });
    const { body, sizeBytes, contentType } = await client.openSnapshotFile('snap_1', 'a');
    expect({ sizeBytes, contentType }).toEqual({ sizeBytes: 5, contentType: 'application/gzip' });
    expect(records).toEqual([]);
    expect(Buffer.concat(await body.toArray()).toString()).toBe('bytes');
    await expect
      .poll(() => records)
      .toMatchObject([{ endpoint: 'downloadSnapshotFile', status: 200, errorCode: null }]);
  });

  it('has no size if the service sends chunks', async () => {
    const stand = closing.keep(await startStand((_, response) => response.write('a') && response.end('b')));
    const { body, sizeBytes } = await closing.client(stand).openArtifact('bx_1', 'a');
    expect(sizeBytes).toBeNull();
    expect(Buffer.concat(await body.toArray()).toString()).toBe('ab');
  });

  it('that breaks before it is read is an error for its reader and does not end the process', async () => {
    const { body } = await (await tcpClient(`${head(10)}half`)).openSnapshot('snap_1');
    await expect.poll(() => body.errored).toBeInstanceOf(ConnectionError);
    const sink = new Writable({ write: (_, __, done) => done() });
    await expect(pipeline(body, sink)).rejects.toBeInstanceOf(ConnectionError);
  });

  it('closes its connection when it is destroyed', async () => {
    const onClose = vi.fn();
    const { body } = await (await tcpClient(`${head(10)}half`, { closes: false, onClose })).openSnapshot('snap_1');
    body.destroy();
    await expect.poll(() => onClose).toHaveBeenCalled();
  });
});
