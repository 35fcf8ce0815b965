/**
 * All follows of a worker process share their reads: one `GET /sandboxes` per tick, however many sandboxes are
 * followed. The loop runs only while somebody waits.
 */
import type { SandboxClient } from '../src/client/index.js';
import type { Sandbox } from '../src/contract/records.js';
import { describeFailure } from './failures.js';

export interface FollowHubOptions {
  /** Between two ticks while a young follow waits, in ms. Default 500. */
  readonly minIntervalMs?: number;
  /** Between two ticks when every follow is old, in ms. Default 10 000. */
  readonly maxIntervalMs?: number;
}

/** What a tick saw of a sandbox. */
export interface SharedRead {
  /** Undefined where the list did not hold it, which proves nothing (trap S13). */
  readonly sandbox: Sandbox | undefined;
}

export interface FollowHub {
  /**
   * The first shared read that starts after this call.
   * @param followedSinceMs when the follow began: the older, the rarer the ticks that it asks for
   * @throws the client's error when the service refuses the list; outages are waited out
   */
  next(
    sandboxId: string,
    options: { readonly followedSinceMs: number; readonly signal: AbortSignal },
  ): Promise<SharedRead>;
}

interface Waiter {
  readonly sandboxId: string;
  readonly intervalMs: number;
  readonly resolve: (read: SharedRead) => void;
  readonly reject: (error: unknown) => void;
}

/** Follows of this age ask for the longest interval; the interval grows in proportion to the age. */
const ageShare = 1 / 20;

export function createFollowHub(client: SandboxClient, options: FollowHubOptions = {}): FollowHub {
  const { minIntervalMs = 500, maxIntervalMs = 10_000 } = options;
  const waiters = new Set<Waiter>();
  let running = false;
  let wake: AbortController | undefined;
  let outages = 0;
  // Outlives the loop, which ends whenever nobody waits: the next one to wait must not make it tick at once.
  let lastTickMs = 0;

  function intervalMs(): number {
    let shortest = maxIntervalMs;
    for (const waiter of waiters) shortest = Math.min(shortest, waiter.intervalMs);
    return Math.min(maxIntervalMs, shortest * 2 ** Math.min(outages, 5));
  }

  async function tick(): Promise<void> {
    const served = [...waiters];
    try {
      const byId = new Map((await client.listAllSandboxes()).map((sandbox) => [sandbox.id, sandbox]));
      outages = 0;
      for (const waiter of served) waiter.resolve({ sandbox: byId.get(waiter.sandboxId) });
    } catch (error) {
      outages += 1;
      const meaning = describeFailure(error, 1)?.meaning;
      if (meaning === 'permanent' || meaning === 'blocked') for (const waiter of served) waiter.reject(error);
    }
  }

  async function run(): Promise<void> {
    while (waiters.size > 0) {
      wake = new AbortController();
      const dueInMs = lastTickMs + intervalMs() - Date.now();
      if (dueInMs > 0) {
        await pause(dueInMs, wake.signal);
        // A younger follow may have come, or the last one may have left: both change when the next tick is due.
        if (wake.signal.aborted) continue;
      }
      lastTickMs = Date.now();
      await tick();
    }
    running = false;
  }

  return {
    next(sandboxId, { followedSinceMs, signal }) {
      return new Promise<SharedRead>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const ageMs = Date.now() - followedSinceMs;
        const settle = (finish: () => void) => {
          waiters.delete(waiter);
          signal.removeEventListener('abort', onAbort);
          finish();
        };
        const waiter: Waiter = {
          sandboxId,
          intervalMs: Math.max(minIntervalMs, Math.min(maxIntervalMs, ageMs * ageShare)),
          resolve: (read) => settle(() => resolve(read)),
          reject: (error) => settle(() => reject(error)),
        };
        const onAbort = () => {
          waiter.reject(signal.reason);
          wake?.abort();
        };
        signal.addEventListener('abort', onAbort);
        waiters.add(waiter);
        wake?.abort();
        if (running) return;
        running = true;
        void run();
      });
    },
  };
}

/** Resolves after `ms`, or when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
  });
}
