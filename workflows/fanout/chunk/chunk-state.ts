/** The state of one chunk: its items and its grant. */
import { CancellationScope } from '@temporalio/workflow';
import { type FanoutPlaces, fanoutPlaces } from '../../../src/addresses/fanout-addresses.js';
import { type ByClass, classCounts, isOfOthers } from '../../../src/protocol/failure-class.js';
import type {
  CarriedChunk,
  CarriedItem,
  ChunkGrant,
  ChunkInput,
  KnownItem,
  NextRun,
} from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { addApiCalls } from '../../shared/count-api-calls.js';
import { sourceChangedCode } from '../../shared/job-termination.js';
import { ChildStartLimit } from '../child-start-limit.js';
import { failureOf, longerStreak } from '../failure-streak.js';
import { addLeft } from '../left-list.js';
import { knowsClasses, knowsHolds, knowsLosses } from '../markers.js';
import { accounted, freeSeconds, reservedBy } from './budget.js';
import { type EndedItem, isFailure, isFreelyTriedAgain, isSourceLost, isTriedAgain } from './retry-policy.js';
import { type Slot, slotOf, startingItem } from './slot.js';
import { unendedFork } from './unended-fork.js';

/** Error code of an item whose workflow was terminated from outside. */
export const lostItemCode = 'item_lost';
const unknownFork = 'The item did not say how it ended; this fork, or one of a later try, may still run.';

export interface SeenItems {
  /** Items whose workflows run. */
  readonly running: ReadonlySet<number>;
  /** Items whose workflows were terminated from outside. */
  readonly lost: ReadonlySet<number>;
}

const nothingSeen: SeenItems = { running: new Set<number>(), lost: new Set<number>() };
/** Number of forks that may be ended at the same time. They do not use the window. */
const endsAtOnce = 20;

export class ChunkState {
  readonly places: FanoutPlaces;
  readonly carried: CarriedChunk;
  slots: Slot[] = [];
  /** True once the items are loaded, and the results of earlier workflows are known. */
  isLoaded = false;
  /** Why no attempt can read the items; null while one may. */
  unreadable: JobError | null = null;
  /** Items that an earlier run started, and their ends. */
  readonly watched = new Map<number, Promise<ItemSummary | null>>();
  readonly starts = new ChildStartLimit();
  /** Number of operations that the next run could not resume halfway, such as unconfirmed starts. */
  private underWay = 0;
  /** True while endings are written. */
  isAddingEndings = false;
  /** True once an item started or ended in this run. */
  hasMoved = false;
  /** True while the run prepares to continue as new. */
  isPausing = false;
  /** Counter of changes to report; `urgentChanges` counts those to report immediately. */
  changes = 0;
  urgentChanges = 0;

  constructor(readonly input: ChunkInput) {
    this.places = fanoutPlaces(input);
    this.carried = input.carried ?? newCarriedChunk(input, Date.now());
  }

  /**
   * Loads the items and, from the second start of the chunk on, their earlier results.
   * @param seen items whose workflows still run from an earlier start, and items whose workflows were terminated; how
   *   items have changed. Default: none
   */
  load(
    items: readonly FanoutItem[],
    known: readonly (KnownItem | null)[],
    seen: SeenItems & { readonly next?: readonly (NextRun | null)[] } = nothingSeen,
  ): void {
    this.carried.items = items.map((_, place) => {
      const earlier = known[place] ?? null;
      this.carried.spentSeconds += accounted(earlier?.machineSeconds ?? 0);
      const index = this.input.firstIndex + place;
      const isRunning = seen.running.has(index);
      const changed = seen.next?.[place] ?? null;
      return startingItem(earlier, { isRunning, isLost: seen.lost.has(index), changed, chunk: this.input });
    });
    this.loadCarried(items, 'now');
  }

  /** Loads the items in a run that continues another one. */
  loadCarried(items: readonly FanoutItem[], when: 'now' | 'soon' = 'soon'): void {
    const states = this.carried.items;
    this.slots = items.flatMap((item, place) => {
      const index = this.input.firstIndex + place;
      const carried = states[place];
      return carried ? slotOf({ index, item }, carried, this.input) : [];
    });
    this.isLoaded = true;
    this.noteChange(when);
  }

  get place() {
    const { deployment, batchId, batchKey } = this.input;
    return { deployment, batchId, batchKey };
  }

  get running(): Slot[] {
    return this.slots.filter(({ carried }) => carried.state === 'running');
  }

  get waiting(): Slot[] {
    return this.slots.filter(({ carried }) => carried.state === 'waiting');
  }

  get isEnding(): boolean {
    return this.carried.isCut || this.carried.grant.isEnding;
  }

  get isOver(): boolean {
    return this.hasRunAll && this.carried.endings.length === 0;
  }

  /** True once no item runs or will run. */
  get hasRunAll(): boolean {
    const { running, waiting, isLoaded } = this;
    if (this.unreadable) return true;
    if (!isLoaded || running.length > 0 || waiting.some(({ carried }) => carried.toEnd)) return false;
    return this.isEnding || waiting.length === 0;
  }

  /** Those of the waiting items that the canaries do not hold back. */
  get startable(): Slot[] {
    const { firstHeldBack } = this;
    return this.waiting.filter(({ index }) => index < firstHeldBack);
  }

  get reservedSeconds(): number {
    return reservedBy(this.running);
  }

  /** Machine-seconds left in the budget; null without a limit. */
  get freeSeconds(): number | null {
    const { grant, spentSeconds } = this.carried;
    return freeSeconds(grant.budgetSeconds, { spentSeconds, reservedSeconds: this.reservedSeconds });
  }

  /** The next item that may start now. */
  next(nowMs: number): Slot | undefined {
    const { running, waiting } = this;
    const { window, pausedUntilMs } = this.carried.grant;
    const toEnd = waiting.find(({ carried }) => carried.toEnd);
    if (toEnd && running.filter(({ carried }) => carried.toEnd).length < endsAtOnce) return toEnd;
    if (this.isEnding || this.carried.sourceError || running.length + this.unanswered >= window) return undefined;
    if (pausedUntilMs !== null && nowMs < pausedUntilMs) return undefined;
    const free = this.freeSeconds;
    const fits = ({ carried, costSeconds }: Slot) => !carried.toEnd && (free === null || costSeconds <= free);
    return this.startable.find(fits);
  }

  /**
   * Number of permanent failures that the batch has not answered. No item takes their places in the window: without
   * this, each chunk would start many items before the batch knows that all of them fail.
   */
  private get unanswered(): number {
    const { permanent = 0, grant } = this.carried;
    return Math.max(0, permanent - (grant.answered ?? 0));
  }

  /** Place in the batch of the first item that may not start before the canaries have ended. */
  private get firstHeldBack(): number {
    const { canary = 0 } = this.input.policy;
    // A chunk without canaries starts only once they have ended.
    const isFree = canary <= this.input.firstIndex || this.carried.grant.isProven;
    return isFree ? Number.POSITIVE_INFINITY : canary;
  }

  applyGrant(grant: ChunkGrant): void {
    const before = this.carried.grant;
    if (grant.seq <= before.seq) return;
    const { window = before.window, budgetSeconds = before.budgetSeconds, ...rest } = grant;
    const answered = Math.max(before.answered ?? 0, grant.answered ?? 0);
    const isProven = before.isProven ?? grant.isProven;
    this.carried.grant = {
      ...{ ...rest, window, budgetSeconds },
      ...(answered > 0 && { answered }),
      ...(isProven && { isProven }),
    };
    if (this.isEnding) this.cut();
    // The batch waits for an answer to its request for a report, for a returned window, and for the need of budget.
    const isAwaited = grant.window === undefined || window < before.window || budgetSeconds !== null;
    this.noteChange(isAwaited ? 'now' : 'soon');
  }

  /** Stops starting items, and cancels the running ones. */
  cut(): void {
    this.carried.isCut = true;
    for (const { scope } of this.running) scope?.cancel();
    this.noteChange('now');
  }

  /**
   * If several items are throttled together, the first refusal is reported immediately, and the batch then pauses all
   * chunks.
   */
  throttle(untilMs: number): void {
    const { throttledUntilMs } = this.carried;
    if (untilMs <= (throttledUntilMs ?? 0)) return;
    this.carried.throttledUntilMs = untilMs;
    const isKnown = throttledUntilMs !== null && throttledUntilMs > Date.now();
    this.noteChange(isKnown ? 'soon' : 'now');
  }

  block(index: number, message: string | null): void {
    const isKnown = this.unblock(index);
    if (message !== null) this.carried.blocked.push({ index, message, since: new Date().toISOString() });
    if (isKnown || message !== null) this.noteChange('soon');
  }

  /** @returns true if the item was blocked */
  private unblock(index: number): boolean {
    const { blocked } = this.carried;
    this.carried.blocked = blocked.filter((one) => one.index !== index);
    return this.carried.blocked.length < blocked.length;
  }

  /** Puts an item back into the queue if it was cancelled before its workflow started. */
  putBack(slot: Slot): void {
    slot.carried.state = 'waiting';
    slot.scope = null;
    this.noteChange('now');
  }

  /** Records the result of an item's workflow. */
  settle(slot: Slot, summary: ItemSummary): void {
    const item = slot.carried;
    const { after } = item;
    this.hasMoved = true;
    slot.scope = null;
    slot.isAttached = false;
    item.toEnd = null;
    item.after = null;
    item.losses = 0;
    this.unblock(slot.index);
    // The cost of generations that had ended when the results were read is already counted.
    if (summary.generation > item.settled) this.carried.spentSeconds += accounted(summary.machineSeconds);
    item.settled = 0;
    this.recordEnd(summary, summary);
    const ended: EndedItem = { ...summary, errorCode: summary.error?.code ?? null };
    const isLost = isSourceLost(ended, summary.sandboxId);
    if (isLost) this.carried.sourceError = summary.error;
    if (after?.kind === 'run') {
      // An earlier execution cut the item short or let it fail, and only its fork remained to be ended.
      item.state = 'waiting';
      item.generation = after.generation;
      item.lookFirst = after.lookFirst;
      item.retried = after.retried;
      item.excused = after.excused;
      this.noteChange('soon');
      return;
    }
    const { retries } = this.input.policy;
    const mayRetry = after === null && !this.isEnding && this.carried.sourceError === null;
    const { excused = 0 } = item;
    const isFree = mayRetry && isFreelyTriedAgain(ended, excused, { retries }) && knowsClasses();
    if (mayRetry && (isFree || isTriedAgain(ended, item.retried, { retries }))) {
      item.state = 'waiting';
      item.generation = summary.generation + 1;
      // A lost item may have continued to unreported generations.
      item.lookFirst = ended.errorCode === lostItemCode;
      if (isFree) item.excused = excused + 1;
      else item.retried += 1;
      this.noteChange('soon');
      return;
    }
    item.state = 'ended';
    item.outcome = summary.outcome;
    item.failureClass = summary.failureClass;
    const { kind } = this.input.policy.stopAt;
    const decides = kind === 'successes' ? summary.outcome === 'completed' : kind === 'fail_fast' && isBlamed(item);
    if (isLost && isBlamed(item) && knowsLosses()) this.carried.lost = (this.carried.lost ?? 0) + 1;
    const isAwaited = this.noteEnding(summary, isLost);
    this.decide();
    this.noteChange(decides || isAwaited || this.carried.sourceError ? 'now' : 'soon');
  }

  /** @returns true if the batch must know of the ending at once */
  private noteEnding(summary: ItemSummary, isLost: boolean): boolean {
    const { breaker = 0, canary = 0 } = this.input.policy;
    if (breaker === 0 && canary === 0) return false;
    const { carried } = this;
    const failure = failureOf(summary);
    // The loss of a source is no failure of the item, and what was cut short tells nothing of it.
    const isTelling = failure === null ? summary.outcome === 'completed' : !isLost;
    if (isTelling && (failure !== null || carried.streak))
      carried.streak = longerStreak(carried.streak ?? null, failure);
    const isCounted = breaker > 0 && failure?.isPermanent === true && knowsHolds() && !isLost;
    if (isCounted) carried.permanent = (carried.permanent ?? 0) + 1;
    return isCounted || this.firstHeldBack === canary;
  }

  /** Records what an item left. @param summary null if its workflow returned none */
  recordEnd(item: { readonly index: number; readonly generation: number }, summary: ItemSummary | null): void {
    if (summary === null) {
      addLeft(this.carried, [unendedFork(this.input, item, unknownFork)]);
      return;
    }
    addApiCalls(summary.apiCalls);
    addLeft(this.carried, summary.left);
    if (summary.ending) this.carried.endings.push(summary.ending);
  }

  /** Ends the chunk immediately if its own items already decide that the batch ends. */
  private decide(): void {
    const { stopAt } = this.input.policy;
    const byOutcome = this.byOutcome();
    const isEnough = stopAt.kind === 'successes' && (byOutcome.completed ?? 0) >= stopAt.count;
    const { sourceError, items, lost = 0 } = this.carried;
    const hasFailed = stopAt.kind === 'fail_fast' && items.filter(isBlamed).length > lost;
    // Items that started before the source changed go on.
    const isLost = sourceError !== null && sourceError.code !== sourceChangedCode;
    if (isEnough || hasFailed || isLost) this.cut();
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
    for (const { state, outcome } of this.carried.items) {
      if (state === 'ended' && outcome !== null) counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }

  byClass(): ByClass {
    return classCounts(this.carried.items.map(({ state, failureClass }) => (state === 'ended' ? failureClass : null)));
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

  /** The input of the next run. */
  carry(): ChunkInput {
    return { ...this.input, carried: this.carried };
  }

  nextReport(): number {
    // After a reset, too, the batch must take a report for newer than those that it has.
    this.carried.reports = Math.max(this.carried.reports + 1, Date.now());
    return this.carried.reports;
  }
}

/** True for an item whose failure counts for `--fail-fast`. Earlier versions counted every one. */
function isBlamed({ outcome, failureClass }: CarriedItem): boolean {
  return outcome !== null && isFailure(outcome) && !(isOfOthers(failureClass) && knowsClasses());
}

function newCarriedChunk({ grant, firstIndex, policy }: ChunkInput, nowMs: number): CarriedChunk {
  const { window = 0, budgetSeconds = null, ...rest } = grant;
  const isFree = (policy.canary ?? 0) > firstIndex && !knowsHolds();
  return {
    startedAtMs: nowMs,
    items: [],
    grant: { ...rest, window, budgetSeconds, ...(isFree && { isProven: true }) },
    spentSeconds: 0,
    throttledUntilMs: null,
    sourceError: null,
    isCut: false,
    reports: 0,
    left: [],
    leftMore: 0,
    blocked: [],
    endings: [],
  };
}
