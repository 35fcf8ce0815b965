import { withAnySignal } from './any-signal.js';

/** Resolves when the signal aborts, or at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Waits for `work` until the signal is aborted. Work whose own signal does not end it then goes on, and nobody learns how it ends.
 * @throws the reason of the signal, without any work if it is aborted already
 */
export async function untilAborted<T>(signal: AbortSignal, work: (ofWork: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return withAnySignal([signal], (ofWork) => {
    const cut = aborted(ofWork).then((): never => {
      throw signal.reason;
    });
    return Promise.race([work(ofWork), cut]);
  });
}
