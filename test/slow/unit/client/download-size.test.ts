import { mkdtemp, rm, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClosing, startStand } from '../../../unit/client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const mebibyte = 1024 * 1024;
const block = Buffer.alloc(mebibyte, 7);

/** Sends this many MiB as fast as they are read; `onBlock` sees each. */
function sendBlocks(response: ServerResponse, count: number, onBlock: (sent: number) => void) {
  let sent = 0;
  response.writeHead(200, { 'content-length': count * mebibyte });
  const more = () => {
    while (sent < count) {
      onBlock(++sent);
      if (!response.write(block)) return response.once('drain', more);
    }
    response.end();
  };
  more();
}

describe('a download of any size', () => {
  it('of 384 MiB takes less than 64 MiB more memory than a small one, server and client together', {
    timeout: 120_000,
  }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sandflow-large-'));
    let highest = 0;
    const look = () => {
      highest = Math.max(highest, process.memoryUsage.rss());
    };
    let count = 16;
    const stand = closing.keep(await startStand((_, response) => sendBlocks(response, count, look)));
    const client = closing.client(stand);
    try {
      // The constant memory of the runtime: the HTTP parser, and buffers before their first collection.
      await client.downloadSnapshot('snap_1', { to: join(directory, 'small') });
      const before = process.memoryUsage.rss();
      count = 384;
      const { path, sizeBytes } = await client.downloadSnapshot('snap_1', { to: join(directory, 'large') });
      expect(sizeBytes).toBe(384 * mebibyte);
      expect((await stat(path)).size).toBe(sizeBytes);
      expect((highest - before) / mebibyte).toBeLessThan(64);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('is sent only as fast as its reader accepts it, and a slow reader does not count as silence', async () => {
    let sentMiB = 0;
    const stand = closing.keep(
      await startStand((_, response) =>
        sendBlocks(response, 128, (sent) => {
          sentMiB = sent;
        }),
      ),
    );
    const { body } = await closing.client(stand, { timeoutMs: 1_000 }).openSnapshot('snap_1');
    // Until both buffers of the connection are full.
    let seen = -1;
    await vi.waitFor(
      () => {
        const still = seen === sentMiB;
        seen = sentMiB;
        expect(still).toBe(true);
      },
      { interval: 300 },
    );
    expect(sentMiB).toBeLessThan(32);
    // Longer than the silence limit.
    await sleep(1_500);
    let read = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) read += chunk.length;
    expect(read).toBe(128 * mebibyte);
  });
});
