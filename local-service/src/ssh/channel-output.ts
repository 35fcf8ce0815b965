/** Sends the output of a shell to a client, as fast as the client accepts it. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import type { ServerChannel } from 'ssh2';

/**
 * At most one piece is being sent. It waits for the client's window and for the socket. So the service never holds more
 * than one piece, even for a slow client or for a client that grants an unlimited window.
 *
 * @param gone aborted when the channel is gone; output that waits is then dropped
 */
export function createChannelOutput(channel: ServerChannel, socket: Socket, gone: AbortSignal) {
  let last: Promise<void> = Promise.resolve();

  const writeOne = async (target: Writable, chunk: Buffer): Promise<void> => {
    if (gone.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        gone.removeEventListener('abort', done);
        resolve();
      };
      // A closed channel does not call back.
      gone.addEventListener('abort', done, { once: true });
      target.write(chunk, done);
    });
    forgetSentPiece(channel);
    if (socket.writableNeedDrain) await once(socket, 'drain', { signal: gone }).catch(() => undefined);
  };

  return {
    /**
     * Resolves when the source has ended and all its output was sent, or when the channel is closed. Never rejects.
     */
    async pump(source: Readable, name: 'stdout' | 'stderr') {
      const target = name === 'stdout' ? channel : channel.stderr;
      addAbortSignal(gone, source);
      try {
        for await (const chunk of source) {
          last = last.then(() => writeOne(target, chunk));
          await last;
        }
      } catch {
        // The source was aborted together with the channel, or failed. In both cases, no more output comes.
      }
    },
  };
}

/**
 * Works around a defect of ssh2 (1.17). If a piece of output had to wait for the window, ssh2 keeps it after it was
 * sent. If a piece of the other stream then has to wait, ssh2 sends the old piece again instead.
 */
function forgetSentPiece(channel: ServerChannel): void {
  for (const field of ['_chunk', '_chunkcb', '_chunkErr', '_chunkcbErr']) Reflect.set(channel, field, undefined);
}
