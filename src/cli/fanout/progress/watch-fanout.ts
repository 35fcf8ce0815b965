/** Watches a batch until it ends, the user detaches, or the watch deadline passes. Never changes the batch. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { FanoutResult } from '../../../../workflows/fanout/types.js';
import { SandflowError } from '../../../contract/sandflow-error.js';
import { abortable } from '../../../temporal/abortable-calls.js';
import { awaitFanout, type FanoutAddress, fanoutProgress } from '../../../temporal/fanouts/index.js';
import { isTemporalUnreachable } from '../../../temporal/jobs/errors.js';
import type { Platform } from '../../connect/platform.js';
import { createFailedItems, type FailedItems } from '../results/failed-items.js';
import type { BatchView } from './batch-view.js';
import { findDollarsPerSecond } from './price.js';

const lookEveryMs = 1_000;
/** How often to read the price again. */
const priceEveryMs = 60_000;

export type WatchedFanout = Pick<Platform, 'temporal' | 'service' | 'results' | 'reconnect'>;

export type FanoutWatchEnd =
  | { readonly kind: 'ended'; readonly result: FanoutResult }
  | { readonly kind: 'detached' }
  | { readonly kind: 'deadline' };

export interface WatchFanoutOptions {
  readonly view: BatchView;
  readonly interrupted: AbortSignal;
  /** The watch's own deadline, in ms from now; none by default. */
  readonly deadlineMs?: number;
}

/** @throws what `awaitFanout` throws, and what `reconnect` throws if Temporal stays unreachable */
export async function watchFanout(
  platform: WatchedFanout,
  address: FanoutAddress,
  options: WatchFanoutOptions,
): Promise<FanoutWatchEnd> {
  const { view, interrupted, deadlineMs } = options;
  const deadline = deadlineMs === undefined ? [] : [AbortSignal.timeout(deadlineMs)];
  const over = AbortSignal.any([interrupted, ...deadline]);
  const closed = new AbortController();
  const looking = view.looks ? look(platform, address, view, AbortSignal.any([over, closed.signal])) : undefined;
  try {
    for (;;) {
      try {
        return { kind: 'ended', result: await awaitFanout(platform.temporal, address, { signal: over }) };
      } catch (error) {
        if (interrupted.aborted) return { kind: 'detached' };
        if (over.aborted) return { kind: 'deadline' };
        if (!isTemporalUnreachable(error)) throw error;
        await platform.reconnect({ ...noReporter, notice: view.notice }).catch((failed: unknown) => {
          if (!interrupted.aborted) throw failed;
        });
        if (interrupted.aborted) return { kind: 'detached' };
      }
    }
  } finally {
    closed.abort();
    await looking;
  }
}

/** Ignores a failed poll: the wait for the end notices a lost connection. */
async function look(
  platform: WatchedFanout,
  address: FanoutAddress,
  view: BatchView,
  signal: AbortSignal,
): Promise<void> {
  let failedItems: FailedItems | undefined;
  let failed = -1;
  let priceAtMs = Number.NEGATIVE_INFINITY;
  let warned = false;
  while (!signal.aborted) {
    try {
      const client = platform.temporal;
      const progress = await abortable(client, signal, () => fanoutProgress(client, address));
      warned = false;
      failedItems ??= createFailedItems(platform.results, { ...address, batchKey: progress.batchKey });
      if (progress.counts.failed + progress.counts.retried !== failed) {
        failed = progress.counts.failed + progress.counts.retried;
        view.failed(await failedItems.look());
      }
      view.show(progress);
      if (Date.now() - priceAtMs > priceEveryMs) {
        priceAtMs = Date.now();
        void findDollarsPerSecond(platform.service).then(view.price);
      }
    } catch (error) {
      if (!signal.aborted && !warned && error instanceof SandflowError && error.code === 'no_worker') {
        warned = true;
        view.notice(error.message);
      }
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

const noReporter = {
  progress: () => undefined,
  wakes: () => undefined,
  agent: () => undefined,
  close: () => undefined,
};
