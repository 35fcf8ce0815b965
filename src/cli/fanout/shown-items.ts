/** All items of a batch, with what is known of each: for `sandflow fanout show --json`. */
import type { FanoutProgress } from '../../protocol/fanout/fanout-progress.js';
import type { ItemResult } from '../../protocol/fanout/fanout-result.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import { fanoutItemResults } from '../../result-store/fanout-objects.js';
import { abortable } from '../../temporal/calls.js';
import type { FanoutAddress } from '../../workflow-client/fanouts/fanout-client.js';
import { itemProgress, type RunningItem, runningItems } from '../../workflow-client/fanouts/running-items.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import type { Platform } from '../connect/platform.js';
import { reasonOf } from './results/failed-items.js';

/** Each is asked with two requests to Temporal. */
const askedAtMost = 200;
const atOnce = 4;

export interface ShownItem {
  /** Place of the item in the batch, from 0. */
  readonly index: number;
  readonly id: string;
  /** `queued`, `ended`, or the phase of its job; `running` if that is not known. */
  readonly phase: string;
  /** When it entered this phase, as an ISO 8601 time; null if unknown. */
  readonly since: string | null;
  /** How its newest attempt ended; null if it is queued or runs. */
  readonly outcome: string | null;
  /** Why it failed; null if it did not, or if it says nothing. */
  readonly error: string | null;
  /** Null if unknown. */
  readonly sandboxId: string | null;
}

/** @returns null if they cannot be read */
export async function readShownItems(
  platform: Pick<Platform, 'temporal' | 'results'>,
  batch: FanoutAddress,
  {
    progress,
    signal,
  }: { readonly progress: Pick<FanoutProgress, 'batchKey' | 'outcome'>; readonly signal: AbortSignal },
): Promise<ShownItem[] | null> {
  try {
    const running = progress.outcome === null ? await readRunning(platform, batch, signal) : new Map<number, Known>();
    const items: ShownItem[] = [];
    for await (const item of fanoutItemResults(platform.results, { ...batch, batchKey: progress.batchKey })) {
      signal.throwIfAborted();
      items.push(shownItem(item, running.get(item.index), progress));
    }
    return items;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

type Known = RunningItem & Partial<Pick<JobProgress, 'phase' | 'since' | 'sandboxId'>>;

async function readRunning(
  { temporal }: Pick<Platform, 'temporal'>,
  batch: FanoutAddress,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Known>> {
  return abortable(temporal, signal, async () => {
    const running = await runningItems(temporal, batch);
    const limit = createConcurrencyLimit(atOnce);
    const read = async (item: RunningItem, at: number): Promise<Known | null> => {
      if (at >= askedAtMost) return item;
      try {
        const progress = await limit(() => itemProgress(temporal, { ...batch, index: item.index }));
        return progress && { ...item, ...progress };
      } catch {
        return item;
      }
    };
    const known = (await Promise.all(running.map(read))).filter((item) => item !== null);
    return new Map(known.map((item) => [item.index, item]));
  });
}

/** @param running undefined if the item does not run */
export function shownItem(
  item: ItemResult,
  running: Known | undefined,
  { outcome: ofBatch }: Pick<FanoutProgress, 'outcome'>,
): ShownItem {
  const { index, itemId: id, outcome, job, times } = item;
  if (running) {
    const { phase = 'running', since = running.startedAt, sandboxId = null } = running;
    return { index, id, phase, since, outcome: null, error: null, sandboxId };
  }
  if (outcome === 'not_started' && ofBatch === null) {
    return { index, id, phase: 'queued', since: null, outcome: null, error: null, sandboxId: null };
  }
  const since = times.endedAt ?? times.endingAt;
  return {
    index,
    id,
    phase: 'ended',
    since,
    outcome,
    error: reasonOf(item) ?? null,
    sandboxId: job?.sandboxId ?? null,
  };
}
