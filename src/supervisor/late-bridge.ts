/** Starts the bridge of a stack that had no webhook secret, as soon as there is one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptService } from './keep-running.js';

const pauseMs = 500;

interface LateBridgeOptions {
  readonly hasSecret: () => boolean;
  readonly start: () => Promise<KeptService>;
  readonly onStarted: (bridge: KeptService) => void;
  readonly log: (line: string) => void;
}

/** @returns a function that ends the wait; then no bridge is starting any more */
export function startBridgeLater({ hasSecret, start, onStarted, log }: LateBridgeOptions): () => Promise<void> {
  const over = new AbortController();
  const wait = async () => {
    while (!over.signal.aborted) {
      await sleep(pauseMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted || !hasSecret()) continue;
      try {
        return onStarted(await start());
      } catch (error) {
        log(`the bridge could not be started: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  const waiting = wait();
  return async () => {
    over.abort();
    await waiting;
  };
}
