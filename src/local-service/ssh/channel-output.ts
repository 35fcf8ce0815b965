/** Carries what a shell prints to a client, as fast as the client takes it. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import type { ServerChannel } from 'ssh2';

export interface ChannelOutput {
  /** Resolves when the source has ended and all of it was handed over, or when the channel is gone. Never rejects. */
  pump(source: Readable, target: 'stdout' | 'stderr'): Promise<void>;
}

/**
 * At most one piece is on its way, and it waits for the window of the client and for the socket: neither a slow client nor
 * one that grants an endless window makes the service keep more.
 *
 * @param gone aborted when the channel is gone: what is waiting is then given up
 */
export function createChannelOutput(channel: ServerChannel, socket: Socket, gone: AbortSignal): ChannelOutput {
  let last: Promise<void> = Promise.resolve();

  const writeOne = async (target: Writable, chunk: Buffer): Promise<void> => {
    if (gone.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        gone.removeEventListener('abort', done);
        resolve();
      };
      // A channel that is closed forgets to call back.
      gone.addEventListener('abort', done, { once: true });
      target.write(chunk, done);
    });
    forgetSentPiece(channel);
    if (socket.writableNeedDrain) await once(socket, 'drain', { signal: gone }).catch(() => undefined);
  };

  return {
    async pump(source, name) {
      const target = name === 'stdout' ? channel : channel.stderr;
      addAbortSignal(gone, source);
      try {
        for await (const chunk of source) {
          last = last.then(() => writeOne(target, chunk));
          await last;
        }
      } catch {
        // The source was cut off together with the channel, or broke: in both cases nothing more comes.
      }
    },
  };
}

/**
 * ssh2 (1.17) keeps the last piece that had to wait for the window after it was sent. When a piece of the other stream waits
 * next, it sends the kept one again in its place.
 */
function forgetSentPiece(channel: ServerChannel): void {
  for (const field of ['_chunk', '_chunkcb', '_chunkErr', '_chunkcbErr']) Reflect.set(channel, field, undefined);
}
