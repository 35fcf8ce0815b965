/** The state of one chunk: its items, and what it was granted. */
import type { CancellationScope } from '@temporalio/workflow';
import { type FanoutPlaces, fanoutPlaces } from '../../src/contract/fanout-addresses.js';
import type { FanoutItem, ItemOutcome, ItemSummary } from '../fanout.js';
import type { ChunkGrant, ChunkInput, KnownItem } from '../fanout-parts.js';
import type { JobError } from '../job.js';
import { type EndedItem, isFailure, isSourceLost, isTriedAgain, resumptionOf } from './after-item.js';
import { accounted, reservedSeconds, typeOf } from './item-cost.js';

/** An item and where it is. */
export interface Slot {
  readonly index: number;
  readonly item: FanoutItem;
  /** What is reserved for it while it is at work. */
  readonly costSeconds: number;
  state: 'waiting' | 'running' | 'ended';
  /** The next one to run, or that runs. */
  generation: number;
  /** True where that generation may have been forked by an earlier workflow. */
  lookFirst: boolean;
  retried: number;
  outcome: ItemOutcome | null;
  /** Of the item's workflow while it runs. */
  scope: CancellationScope | null;
}

/** Code of an item whose workflow was ended from outside. */
export const lostItemCode = 'item_lost';

export class ChunkRun {
  readonly places: FanoutPlaces;
  slots: Slot[] = [];
  grant: Required<ChunkGrant>;
  spentSeconds = 0;
  throttledUntilMs: number | null = null;
  sourceError: JobError | null = null;
  apiCalls = 0;
  /** Items are there, and what an earlier workflow did with them is known. */
  isLoaded = false;
  /** Ended by itself or from outside, whatever the grants say. */
  private isCut = false;
  /** Counts what the report must tell; `urgent` what it must tell at once. */
  news = 0;
  urgent = 0;
  private reports = 0;
  readonly left: string[] = [];
  /** Items that do not go on by themselves, and why; the oldest first. */
  readonly blocked = new Map<number, { readonly message: string; readonly since: string }>();

  constructor(readonly input: ChunkInput) {
    this.places = fanoutPlaces(input);
    const { window = 0, budgetSeconds = null, ...grant } = input.grant;
    this.grant = { ...grant, window, budgetSeconds };
  }

  /** Takes the items, and from the second start of the chunk on what they have done. */
  load(items: readonly FanoutItem[], known: readonly (KnownItem | null)[]): void {
    const { isFresh, retryFailed, policy, firstIndex } = this.input;
    this.slots = items.map((item, place) => {
      const earlier = known[place] ?? null;
      this.spentSeconds += accounted(earlier?.machineSeconds ?? 0);
      const next = isFresh
        ? ({ kind: 'run', generation: 1, lookFirst: false, retried: 0 } as const)
        : resumptionOf(earlier, { retryFailed, retries: policy.retries });
      const isDone = next.kind === 'done';
      return {
        index: firstIndex + place,
        item,
        costSeconds: reservedSeconds(item, this.input),
        state: isDone ? 'ended' : 'waiting',
        generation: isDone ? (earlier?.generation ?? 1) : next.generation,
        lookFirst: !isDone && next.lookFirst,
        retried: isDone ? 0 : next.retried,
        outcome: isDone ? (earlier?.outcome ?? null) : null,
        scope: null,
      };
    });
    this.isLoaded = true;
    this.tell('now');
  }

  get place() {
    const { deployment, batchId, batchKey } = this.input;
    return { deployment, batchId, batchKey };
  }

  get running(): Slot[] {
    return this.slots.filter(({ state }) => state === 'running');
  }

  get waiting(): Slot[] {
    return this.slots.filter(({ state }) => state === 'waiting');
  }

  get isEnding(): boolean {
    return this.isCut || this.grant.isEnding;
  }

  get isOver(): boolean {
    return this.running.length === 0 && this.isLoaded && (this.isEnding || this.waiting.length === 0);
  }

  get reservedSeconds(): number {
    return this.running.reduce((sum, { costSeconds }) => sum + costSeconds, 0);
  }

  /** What the budget has room for; null without a limit. */
  get freeSeconds(): number | null {
    const { budgetSeconds } = this.grant;
    return budgetSeconds === null ? null : budgetSeconds - this.spentSeconds - this.reservedSeconds;
  }

  /** The next item that may start now. */
  next(nowMs: number): Slot | undefined {
    const { window, pausedUntilMs } = this.grant;
    if (this.isEnding || this.running.length >= window) return undefined;
    if (pausedUntilMs !== null && nowMs < pausedUntilMs) return undefined;
    const free = this.freeSeconds;
    return this.waiting.find(({ costSeconds }) => free === null || costSeconds <= free);
  }

  obey(grant: ChunkGrant): void {
    if (grant.seq <= this.grant.seq) return;
    const before = this.grant;
    const { window = before.window, budgetSeconds = before.budgetSeconds, ...rest } = grant;
    this.grant = { ...rest, window, budgetSeconds };
    if (this.isEnding) this.cut();
    // The batch waits for what is given back, for what is asked for, and for an answer to its greeting.
    const isAwaited = grant.window === undefined || window < before.window || budgetSeconds !== null;
    this.tell(isAwaited ? 'now' : 'soon');
  }

  /** Starts nothing more, and cancels what is at work. */
  cut(): void {
    this.isCut = true;
    for (const { scope } of this.running) scope?.cancel();
    this.tell('now');
  }

  throttle(untilMs: number): void {
    if (untilMs <= (this.throttledUntilMs ?? 0)) return;
    this.throttledUntilMs = untilMs;
    this.tell('now');
  }

  block(index: number, message: string | null): void {
    const isKnown = this.blocked.delete(index);
    if (message !== null) this.blocked.set(index, { message, since: new Date().toISOString() });
    if (isKnown || message !== null) this.tell('soon');
  }

  /** It was cancelled before its workflow had begun. */
  putBack(slot: Slot): void {
    slot.state = 'waiting';
    slot.scope = null;
    this.tell('now');
  }

  /** Takes what became of an item's workflow. */
  settle(slot: Slot, summary: ItemSummary): void {
    slot.scope = null;
    this.blocked.delete(slot.index);
    this.spentSeconds += accounted(summary.machineSeconds);
    this.apiCalls += summary.apiCalls;
    if (!summary.endedAsAsked && summary.sandboxId !== null) this.left.push(summary.sandboxId);
    const ended: EndedItem = { outcome: summary.outcome, errorCode: summary.error?.code ?? null };
    if (isSourceLost(ended, summary.sandboxId)) this.sourceError = summary.error;
    const { retries } = this.input.policy;
    if (!this.isEnding && this.sourceError === null && isTriedAgain(ended, slot.retried, { retries })) {
      Object.assign(slot, { state: 'waiting', generation: summary.generation + 1 });
      // A lost one may have gone on to generations of which nobody heard.
      slot.lookFirst = ended.errorCode === lostItemCode;
      slot.retried += 1;
      this.tell('soon');
      return;
    }
    slot.state = 'ended';
    slot.outcome = summary.outcome;
    const { kind } = this.input.policy.stopAt;
    const decides =
      kind === 'successes' ? summary.outcome === 'completed' : kind === 'fail_fast' && isFailure(summary.outcome);
    this.decide();
    this.tell(decides || this.sourceError ? 'now' : 'soon');
  }

  /** What needs nobody else's counts is decided here, at once. */
  private decide(): void {
    const { stopAt } = this.input.policy;
    const byOutcome = this.byOutcome();
    const isEnough = stopAt.kind === 'successes' && (byOutcome.completed ?? 0) >= stopAt.count;
    const hasFailed = stopAt.kind === 'fail_fast' && this.slots.some(({ outcome }) => outcome && isFailure(outcome));
    if (isEnough || hasFailed || this.sourceError) this.cut();
  }

  tell(when: 'now' | 'soon'): void {
    this.news += 1;
    if (when === 'now') this.urgent += 1;
  }

  /** For people. */
  get details(): string {
    const { running, waiting, slots } = this;
    const ended = slots.length - running.length - waiting.length;
    return `${running.length} at work, ${waiting.length} waiting, ${ended} ended of ${slots.length}`;
  }

  byOutcome(): Partial<Record<ItemOutcome, number>> {
    const counts: Partial<Record<ItemOutcome, number>> = {};
    for (const { state, outcome } of this.slots) {
      if (state === 'ended' && outcome !== null) counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }

  nextReport(): number {
    this.reports += 1;
    return this.reports;
  }

  /** The size of an item's fork. */
  typeOf(slot: Slot) {
    return typeOf(slot.item, this.input);
  }
}
