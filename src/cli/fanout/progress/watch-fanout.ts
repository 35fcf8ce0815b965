/** Watches a batch until it ends, the user detaches, or the watch deadline passes. Never changes the batch. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SandflowError } from '../../../contract/workflow-safe/sandflow-error.js';
import type { FanoutProgress } from '../../../protocol/fanout/fanout-progress.js';
import type { FanoutResult } from '../../../protocol/fanout/fanout-result.js';
import { abortable } from '../../../temporal/calls.js';
import { type FanoutAddress, fanoutProgress } from '../../../workflow-client/fanouts/fanout-client.js';
import { awaitFanout } from '../../../workflow-client/fanouts/submit-fanout.js';
import type { Platform } from '../../connect/platform.js';
import { type Unfinished, type WatchOptions, watch } from '../../connect/watch.js';
import { findDollarsPerSecond } from '../../output/price.js';
import { createFailedItems, type FailedItems } from '../results/failed-items.js';
import type { BatchView } from './batch-view.js';
import { createItemLooks } from './item-looks.js';

const lookEveryMs = 1_000;
/** How often to look at the items, at most. */
const itemsEveryMs = 5_000;
/** A look at the items that takes long is repeated less often: after this many times the time that it took. */
const itemsRest = 10;
/** How often to read the price again. */
const priceEveryMs = 60_000;

export type WatchedFanout = Pick<Platform, 'temporal' | 'service' | 'results' | 'reconnect'>;

export type FanoutWatchEnd = { readonly kind: 'ended'; readonly result: FanoutResult } | Unfinished;

/** @throws what `awaitFanout` throws, and what `reconnect` throws if Temporal stays unreachable */
export function watchFanout(
  platform: WatchedFanout,
  address: FanoutAddress,
  { view, ...options }: WatchOptions & { readonly view: BatchView },
): Promise<FanoutWatchEnd> {
  const watched = {
    wait: async (signal: AbortSignal): Promise<FanoutWatchEnd> => ({
      kind: 'ended',
      result: await awaitFanout(platform.temporal, address, { signal }),
    }),
    look: view.looks ? (signal: AbortSignal) => look(platform, address, view, signal) : undefined,
    reconnect: () => platform.reconnect(view),
  };
  return watch<FanoutWatchEnd>(watched, options);
}

/** Ignores a failed poll: the wait for the end notices a lost connection. */
async function look(
  platform: WatchedFanout,
  address: FanoutAddress,
  view: BatchView,
  signal: AbortSignal,
): Promise<void> {
  let failedItems: FailedItems | undefined;
  let failed = '';
  let hasMore = false;
  let priceAtMs = Number.NEGATIVE_INFINITY;
  let warned = false;
  const items = lookAtItems(platform, address, view, signal);
  while (!signal.aborted) {
    try {
      const client = platform.temporal;
      const progress = await abortable(client, signal, () => fanoutProgress(client, address));
      warned = false;
      failedItems ??= createFailedItems(platform.results, { ...address, batchKey: progress.batchKey });
      const now = failuresOf(progress);
      if (now !== failed || hasMore) {
        failed = now;
        const items = await failedItems.look(Math.min(view.room, progress.counts.failed));
        hasMore = items.hasMore === true;
        view.failed(items);
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
  await items;
}

/** Changes when an item fails, and when the retry of one may have completed. */
function failuresOf({ counts: { failed, retried, completed } }: FanoutProgress): string {
  return [failed, retried, retried > 0 ? completed : 0].join(' ');
}

/** Keeps the table of items up to date, where there is one. A failed look leaves the counters. */
async function lookAtItems(
  platform: WatchedFanout,
  address: FanoutAddress,
  view: BatchView,
  signal: AbortSignal,
): Promise<void> {
  const looks = createItemLooks(platform, address);
  while (!signal.aborted) {
    const beganMs = Date.now();
    if (view.room > 0) view.running(await looks.look(view.room, signal).catch(() => []));
    const pauseMs = Math.max(itemsEveryMs, itemsRest * (Date.now() - beganMs));
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
