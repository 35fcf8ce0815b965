/** Watches a batch until it ends, the user detaches, or the watch deadline passes. Never changes the batch. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SandflowError } from '../../../errors/sandflow-error.js';
import { withAnySignal } from '../../../os/any-signal.js';
import type { FanoutProgress } from '../../../protocol/fanout/fanout-progress.js';
import type { FanoutResult } from '../../../protocol/fanout/fanout-result.js';
import { abortable } from '../../../temporal/calls.js';
import { type FanoutAddress, fanoutProgress } from '../../../workflow-client/fanouts/fanout-client.js';
import { awaitFanout } from '../../../workflow-client/fanouts/submit-fanout.js';
import type { Platform } from '../../connect/platform.js';
import { type WatchOptions, watch } from '../../connect/watch.js';
import type { Unfinished } from '../../exit-codes.js';
import { findDollarsPerSecond } from '../../output/price.js';
import { asCalled } from '../../program-name.js';
import { createFailedItems, type FailedItems, type FailuresSeen } from '../results/failed-items.js';
import type { BatchView } from './batch-view.js';
import { createItemLooks } from './item-looks.js';
import { endedTries, type RunningItems } from './shown-items.js';

const lookEveryMs = 1_000;
/** The shortest and the longest pause between two looks at the items. */
const itemsEveryMs = 5_000;
const itemsLatestMs = 10_000;
/** Between them, the pause is this many times the time that a look took. */
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
  let connection = new AbortController();
  const looked = { platform, address, view, replaced: () => connection.signal };
  const watched = {
    wait: async (signal: AbortSignal): Promise<FanoutWatchEnd> => ({
      kind: 'ended',
      result: await awaitFanout(platform.temporal, address, { signal }),
    }),
    look: view.looks ? (signal: AbortSignal) => look(looked, signal) : undefined,
    reconnect: async () => {
      await platform.reconnect(view);
      connection.abort();
      connection = new AbortController();
    },
  };
  return watch<FanoutWatchEnd>(watched, options);
}

interface Looked {
  readonly platform: WatchedFanout;
  readonly address: FanoutAddress;
  readonly view: BatchView;
  /** Aborts once another connection has replaced the one of this moment. */
  replaced(): AbortSignal;
}

/** Ignores a failed poll: the wait for the end notices a lost connection. */
async function look({ platform, address, view, replaced }: Looked, signal: AbortSignal): Promise<void> {
  let failedItems: FailedItems | undefined;
  let failed = '';
  let hasMore = false;
  let priceAtMs = Number.NEGATIVE_INFINITY;
  let warned = false;
  const items = createItemLooks(platform, address);
  let listed: number | undefined;
  const lookAtItems = async (ofConnection: AbortSignal): Promise<void> => {
    await items.look(view.room, ofConnection).catch(() => undefined);
    listed = undefined;
  };
  const lookingAtItems = whileConnected(lookAtItems, { view, replaced }, signal);

  while (!signal.aborted) {
    try {
      const client = platform.temporal;
      const progress = await abortable(client, signal, () => fanoutProgress(client, address));
      warned = false;
      const { counts, batchKey } = progress;
      const ended = endedTries(counts);
      let running: RunningItems | undefined;
      if (view.room > 0 && listed !== ended) {
        // Before the list, so that a look which ends meanwhile leads to another.
        listed = ended;
        running = await items.list(signal).catch(() => undefined);
        if (!running) listed = undefined;
      }
      failedItems ??= createFailedItems(platform.results, { ...address, batchKey });
      const now = failuresOf(progress);
      let failures: FailuresSeen | undefined;
      if (now !== failed || hasMore) {
        failed = now;
        failures = await failedItems.look(Math.min(view.room, counts.failed + counts.retried));
        hasMore = failures.hasMore === true;
      }
      // The board is drawn at any time, so what belongs together reaches it together.
      if (running) view.running({ ...running, endedTries: ended });
      if (failures) view.failed(failures);
      view.show(progress);
      if (progress.outcome === null && Date.now() - priceAtMs > priceEveryMs) {
        priceAtMs = Date.now();
        void findDollarsPerSecond(platform.service).then(view.price);
      }
    } catch (error) {
      if (!signal.aborted && !warned && error instanceof SandflowError && error.code === 'no_worker') {
        warned = true;
        view.notice(asCalled(error.message));
      }
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  await lookingAtItems;
}

/** Changes when an item fails, and when the retry of one may have completed. */
function failuresOf({ counts: { failed, retried, completed } }: FanoutProgress): string {
  return [failed, retried, retried > 0 ? completed : 0].join(' ');
}

/** Keeps the rows of the items up to date, where there is a table: also at once with each new connection. */
export async function whileConnected(
  lookAtItems: (signal: AbortSignal) => Promise<void>,
  { view, replaced }: Pick<Looked, 'replaced'> & { readonly view: Pick<BatchView, 'room'> },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await withAnySignal([signal, replaced()], async (ofConnection) => {
      const beganMs = Date.now();
      if (view.room > 0) await lookAtItems(ofConnection);
      const pauseMs = pauseAfterLookMs(Date.now() - beganMs);
      await sleep(pauseMs, undefined, { signal: ofConnection }).catch(() => undefined);
    });
  }
}

/** @param tookMs how long the look took */
export function pauseAfterLookMs(tookMs: number): number {
  return Math.min(itemsLatestMs, Math.max(itemsEveryMs, itemsRest * tookMs));
}
