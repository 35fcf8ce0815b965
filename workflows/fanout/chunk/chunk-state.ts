/** The state of one chunk: its items and its grant. */
import { CancellationScope } from '@temporalio/workflow';
import { type FanoutPlaces, fanoutPlaces } from '../../../src/contract/workflow-safe/fanout-addresses.js';
import type { CarriedItem, ChunkGrant, ChunkInput, KnownItem } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { ChildStartLimit } from '../child-start-limit.js';
import { LeftList } from '../left-list.js';
import { accounted, freeSeconds, reservedBy } from './budget.js';
import { type EndedItem, isFailure, isSourceLost, isTriedAgain } from './retry-policy.js';
import { carriedSlot, carrySlot, knownSlot, type Slot } from './slot.js';

/** Error code of an item whose workflow was terminated from outside. */
export const lostItemCode = 'item_lost';
/** Number of forks that may be ended at the same time. They do not use the window. */
const endsAtOnce = 20;

export class ChunkState {
  readonly places: FanoutPlaces;
  readonly startedAtMs: number;
  slots: Slot[] = [];
  grant: Required<ChunkGrant>;
  spentSeconds: number;
  throttledUntilMs: number | null;
  sourceError: JobError | null;
  apiCalls: number;
  /** True once the items are loaded, and the results of earlier workflows are known. */
  isLoaded = false;
  /** Items that an earlier run started, and their ends. */
  readonly watched = new Map<number, Promise<ItemSummary | null>>();
  readonly starts = new ChildStartLimit();
  /** Number of operations that the next run could not resume halfway, such as unconfirmed starts. */
  private underWay = 0;
  /** True once an item started or ended in this run. */
  hasMoved = false;
  /** True while the run prepares to continue as new. */
  isPausing = false;
  /** True if the chunk ends early, even if its grants allow more. */
  isCut: boolean;
  /** Counter of changes to report; `urgentChanges` counts those to report immediately. */
  changes = 0;
  urgentChanges = 0;
  reports: number;
  readonly left: LeftList;
  /** Items that cannot continue by themselves, and why; oldest first. */
  readonly blocked: Map<number, { readonly message: string; readonly since: string }>;

  constructor(readonly input: ChunkInput) {
    const { carried } = input;
    this.places = fanoutPlaces(input);
    const { window = 0, budgetSeconds = null, ...grant } = carried?.grant ?? input.grant;
    this.grant = { ...grant, window, budgetSeconds };
    this.startedAtMs = carried?.startedAtMs ?? Date.now();
    this.spentSeconds = carried?.spentSeconds ?? 0;
    this.throttledUntilMs = carried?.throttledUntilMs ?? null;
    this.sourceError = carried?.sourceError ?? null;
    this.apiCalls = carried?.apiCalls ?? 0;
    this.isCut = carried?.isCut ?? false;
    this.reports = carried?.reports ?? 0;
    this.left = new LeftList(carried?.left, carried?.leftMore);
    this.blocked = new Map((carried?.blocked ?? []).map(([index, message, since]) => [index, { message, since }]));
  }

  /**
   * Loads the items and, from the second start of the chunk on, their earlier results.
   * @param running items whose workflows still run from an earlier start
   */
  load(
    items: readonly FanoutItem[],
    known: readonly (KnownItem | null)[],
    running: ReadonlySet<number> = new Set(),
  ): void {
    this.slots = items.map((item, place) => {
      const earlier = known[place] ?? null;
      this.spentSeconds += accounted(earlier?.machineSeconds ?? 0);
      const index = this.input.firstIndex + place;
      return knownSlot({ index, item }, { earlier, isRunning: running.has(index), chunk: this.input });
    });
    this.isLoaded = true;
    this.noteChange('now');
  }

  /** Loads the items in a run that continues another one. */
  loadCarried(items: readonly FanoutItem[], carried: readonly CarriedItem[]): void {
    this.slots = items.map((item, place) => {
      const index = this.input.firstIndex + place;
      return carriedSlot({ index, item }, { carried: carried[place] ?? {}, chunk: this.input });
    });
    this.isLoaded = true;
    this.noteChange('soon');
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
    const { running, waiting, isLoaded } = this;
    if (!isLoaded || running.length > 0 || waiting.some(({ toEnd }) => toEnd)) return false;
    return this.isEnding || waiting.length === 0;
  }

  get reservedSeconds(): number {
    return reservedBy(this.running);
  }

  /** Machine-seconds left in the budget; null without a limit. */
  get freeSeconds(): number | null {
    return freeSeconds(this.grant.budgetSeconds, this);
  }

  /** The next item that may start now. */
  next(nowMs: number): Slot | undefined {
    const { running, waiting } = this;
    const { window, pausedUntilMs } = this.grant;
    const toEnd = waiting.find((slot) => slot.toEnd);
    if (toEnd && running.filter((slot) => slot.toEnd).length < endsAtOnce) return toEnd;
    if (this.isEnding || running.length >= window) return undefined;
    if (pausedUntilMs !== null && nowMs < pausedUntilMs) return undefined;
    const free = this.freeSeconds;
    return waiting.find((slot) => !slot.toEnd && (free === null || slot.costSeconds <= free));
  }

  applyGrant(grant: ChunkGrant): void {
    if (grant.seq <= this.grant.seq) return;
    const before = this.grant;
    const { window = before.window, budgetSeconds = before.budgetSeconds, ...rest } = grant;
    this.grant = { ...rest, window, budgetSeconds };
    if (this.isEnding) this.cut();
    // The batch waits for an answer to its request for a report, for a returned window, and for the need of budget.
    const isAwaited = grant.window === undefined || window < before.window || budgetSeconds !== null;
    this.noteChange(isAwaited ? 'now' : 'soon');
  }

  /** Stops starting items, and cancels the running ones. */
  cut(): void {
    this.isCut = true;
    for (const { scope } of this.running) scope?.cancel();
    this.noteChange('now');
  }

  /**
   * If several items are throttled together, the first refusal is reported immediately, and the batch then pauses all
   * chunks.
   */
  throttle(untilMs: number): void {
    const { throttledUntilMs } = this;
    if (untilMs <= (throttledUntilMs ?? 0)) return;
    this.throttledUntilMs = untilMs;
    const isKnown = throttledUntilMs !== null && throttledUntilMs > Date.now();
    this.noteChange(isKnown ? 'soon' : 'now');
  }

  block(index: number, message: string | null): void {
    const isKnown = this.blocked.delete(index);
    if (message !== null) this.blocked.set(index, { message, since: new Date().toISOString() });
    if (isKnown || message !== null) this.noteChange('soon');
  }

  /** Puts an item back into the queue if it was cancelled before its workflow started. */
  putBack(slot: Slot): void {
    slot.state = 'waiting';
    slot.scope = null;
    this.noteChange('now');
  }

  /** Records the result of an item's workflow. */
  settle(slot: Slot, summary: ItemSummary): void {
    const { after } = slot;
    this.hasMoved = true;
    Object.assign(slot, { scope: null, isAttached: false, toEnd: null, after: null, losses: 0 });
    this.blocked.delete(slot.index);
    // The cost of generations that had ended when the results were read is already counted.
    if (summary.generation > slot.settled) this.spentSeconds += accounted(summary.machineSeconds);
    slot.settled = 0;
    this.apiCalls += summary.apiCalls;
    this.left.add(summary.left);
    const ended: EndedItem = { outcome: summary.outcome, errorCode: summary.error?.code ?? null };
    if (isSourceLost(ended, summary.sandboxId)) this.sourceError = summary.error;
    if (after?.kind === 'run') {
      // An earlier execution cut the item short or let it fail, and only its fork remained to be ended.
      const { generation, lookFirst, retried } = after;
      Object.assign(slot, { state: 'waiting', generation, lookFirst, retried });
      this.noteChange('soon');
      return;
    }
    const { retries } = this.input.policy;
    const mayRetry = after === null && !this.isEnding && this.sourceError === null;
    if (mayRetry && isTriedAgain(ended, slot.retried, { retries })) {
      Object.assign(slot, { state: 'waiting', generation: summary.generation + 1 });
      // A lost item may have continued to unreported generations.
      slot.lookFirst = ended.errorCode === lostItemCode;
      slot.retried += 1;
      this.noteChange('soon');
      return;
    }
    slot.state = 'ended';
    slot.outcome = summary.outcome;
    const { kind } = this.input.policy.stopAt;
    const decides =
      kind === 'successes' ? summary.outcome === 'completed' : kind === 'fail_fast' && isFailure(summary.outcome);
    this.decide();
    this.noteChange(decides || this.sourceError ? 'now' : 'soon');
  }

  /** Ends the chunk immediately if its own items already decide that the batch ends. */
  private decide(): void {
    const { stopAt } = this.input.policy;
    const byOutcome = this.byOutcome();
    const isEnough = stopAt.kind === 'successes' && (byOutcome.completed ?? 0) >= stopAt.count;
    const hasFailed = stopAt.kind === 'fail_fast' && this.slots.some(({ outcome }) => outcome && isFailure(outcome));
    if (isEnough || hasFailed || this.sourceError) this.cut();
  }

  noteChange(when: 'now' | 'soon'): void {
    this.changes += 1;
    if (when === 'now') this.urgentChanges += 1;
  }

  /** A summary for people. */
  get details(): string {
    const { running, waiting, slots } = this;
    const ended = slots.length - running.length - waiting.length;
    return `${running.length} running, ${waiting.length} waiting, ${ended} ended of ${slots.length}`;
  }

  byOutcome(): Partial<Record<ItemOutcome, number>> {
    const counts: Partial<Record<ItemOutcome, number>> = {};
    for (const { state, outcome } of this.slots) {
      if (state === 'ended' && outcome !== null) counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }

  get isQuiet(): boolean {
    return this.underWay === 0;
  }

  /** Runs work that must finish before the run continues as new. */
  async counting<T>(work: () => Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await work();
    } finally {
      this.underWay -= 1;
    }
  }

  /** Like `counting`, but in a scope that cannot be cancelled. */
  busy<T>(work: () => Promise<T>): Promise<T> {
    return this.counting(() => CancellationScope.nonCancellable(work));
  }

  carry(): ChunkInput {
    const { input, startedAtMs, grant, spentSeconds, throttledUntilMs, sourceError, apiCalls, isCut, reports } = this;
    const state = { startedAtMs, grant, spentSeconds, throttledUntilMs, sourceError, apiCalls, isCut, reports };
    const blocked = [...this.blocked].map(([index, { message, since }]) => [index, message, since] as const);
    return { ...input, carried: { ...state, ...this.left.all, blocked, items: this.slots.map(carrySlot) } };
  }

  nextReport(): number {
    this.reports += 1;
    return this.reports;
  }
}
