import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { endOnceInterrupted } from '../../../src/supervisor/temporal-service.js';

const interrupted = [14, 'GetNamespace operation failed. Error interrupted (9)'] as const;
const unavailable = [14, 'Not enough hosts to serve the request'] as const;
const slow = [4, 'context deadline exceeded'] as const;
const answer = [0, ''] as const;
type Reply = typeof interrupted | typeof unavailable | typeof slow | typeof answer;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server that gives these answers to the reads, one after the other, and ends with the last of them. */
async function readsOf(...replies: readonly Reply[]) {
  const grpc = createServer();
  const sessions = new Set<ServerHttp2Session>();
  let end: (code: number | null) => void = () => undefined;
  const exited = new Promise<number | null>((resolve) => {
    end = resolve;
  });
  let reads = 0;
  grpc.on('session', (session) => sessions.add(session));
  grpc.on('stream', (stream: ServerHttp2Stream) => {
    const [code, message] = replies[reads] ?? answer;
    reads += 1;
    if (reads > replies.length) end(null);
    const trailers = { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(message) };
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.end(code === 0 ? Buffer.alloc(5) : undefined);
  });
  await new Promise<void>((resolve) => grpc.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => grpc.close(resolve));
  });
  const bound = grpc.address();
  const address = `127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`;
  const stop = vi.fn(async () => end(0));
  const log = vi.fn();
  await endOnceInterrupted({ address, namespace: 'default', exited, stop }, { log, pauseMs: 1 });
  return { reads, stops: stop.mock.calls.length, log: log.mock.calls.flat() };
}

describe('an embedded Temporal server whose database is interrupted', () => {
  it('is ended after four such reads in a row, and the log says so once', async () => {
    expect(await readsOf(interrupted, interrupted, interrupted, interrupted)).toEqual({
      reads: 4,
      stops: 1,
      log: ['temporal answers every read of its database with interrupted (9); ending it'],
    });
  });

  it('counts anew after an answer and after any other failure', async () => {
    const three = [interrupted, interrupted, interrupted];
    const ended = await readsOf(...three, answer, ...three, slow, ...three, unavailable, ...three, interrupted);
    expect(ended).toMatchObject({ reads: 16, stops: 1 });
  });

  it.each([
    ['a slow server', [slow, slow, slow, slow, slow]],
    ['a server that is starting or ending', [unavailable, unavailable, unavailable, unavailable, unavailable]],
    ['a single interrupted read', [answer, interrupted, answer, answer, answer]],
  ])('goes on for %s', async (_, replies) => {
    expect(await readsOf(...replies)).toEqual({ reads: 6, stops: 0, log: [] });
  });
});
