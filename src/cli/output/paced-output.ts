/** Writes to a reader that may be slower than the writer, or may have ended, as with `| head`. */
import type { CliIo } from '../io.js';

/** Writes, and waits if the reader is too slow. Returns false if the reader has ended, so that the caller can stop. */
export type PacedWrite = (content: string | Uint8Array) => Promise<boolean>;

/** @throws the reason of `interrupted`, also while it waits for the reader */
export function createPacedWrite({ stdout, interrupted }: Pick<CliIo, 'stdout' | 'interrupted'>): PacedWrite {
  let isClosed = false;
  let goOn = () => {};
  stdout.once?.('close', () => {
    isClosed = true;
    goOn();
  });
  interrupted.addEventListener('abort', () => goOn(), { once: true });
  return async (content) => {
    interrupted.throwIfAborted();
    if (isClosed) return false;
    if (stdout.write(content) !== false || !stdout.once) return true;
    // After a broken pipe, the stream closes and never drains.
    await new Promise<void>((resolve) => {
      goOn = resolve;
      stdout.once?.('drain', resolve);
    });
    interrupted.throwIfAborted();
    return !isClosed;
  };
}
