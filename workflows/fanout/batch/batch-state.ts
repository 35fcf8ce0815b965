/** The state of one batch: its chunks, their grants and reports, and its end. */
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { type FanoutPlaces, fanoutPlaces } from '../../../src/addresses/fanout-addresses.js';
import { othersIn } from '../../../src/protocol/failure-class.js';
import type {
  BatchInput,
  CarriedBatch,
  ChunkPlace,
  ChunkRecord,
  ChunkReport,
  EndReason,
  OwnSource,
} from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutIntervals, FanoutOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutCounts, FanoutPhase, FanoutProgress } from '../../../src/protocol/fanout/fanout-progress.js';
import type { JobError, LeftBehind } from '../../../src/protocol/job/job-result.js';
import { endText } from '../../../src/protocol/shortfall.js';
import { sourceChangedCode } from '../../shared/job-termination.js';
import { setBudgetLeft } from '../../shared/metrics.js';
import { defaultFanoutIntervals } from '../../shared/wait-intervals.js';
import { ChildStartLimit } from '../child-start-limit.js';
import { knowsClasses, knowsHolds, knowsLosses } from '../markers.js';
import {
  hasFailed,
  isOwn,
  newOwnSource,
  noSource,
  numberOf,
  SourceSlot,
  sourceCountsOf,
} from '../source/source-slot.js';
import { applyReport, keptReport, startAgain, sumEndedChunks, wasStarted, withKnown } from './chunk-record.js';
import { countsOf, sumOf } from './counts.js';
import { mayHaveItems, type SourceTerms } from './due-grants.js';
import { heldText, streakAfterReport } from './hold-decision.js';
import { freshThrottle, recovered, throttled } from './throttle.js';

const namedAtMost = 100;
const errorLength = 1_000;

export class BatchState {
  readonly batchKey: string;
  readonly places: FanoutPlaces;
  readonly pace: FanoutIntervals;
  readonly deadlineAtMs: number;
  readonly carried: CarriedBatch;
  outcome: FanoutOutcome | null = null;
  shortfall: string | null = null;
  error: JobError | null = null;
  /** The batch's own source. */
  readonly main: SourceSlot;
  /** Number of updates and signals that this run has received. */
  messages = 0;
  /** Chunks whose Update is in progress. */
  readonly arriving = new Set<number>();
  /** Chunks to which a grant is being sent, or that are being started. */
  readonly sending = new Set<number>();
  readonly starts = new ChildStartLimit();
  /** True once the time limit for the end is over, even if items still run. */
  isGivenUp = false;
  /** Number of chunks of an earlier execution that this one has cancelled without knowing their items. */
  cancelledChunks = 0;
  /** True once an ending batch no longer waits for items that are still to be submitted. */
  isSubmitterGone = false;
  /** Counts changes. The main loop acts when this number grows. */
  changes = 0;
  private underWay = 0;
  private readonly own = new Map<number, SourceSlot<OwnSource>>();

  constructor(readonly input: BatchInput) {
    this.batchKey = input.batchKey ?? workflowInfo().firstExecutionRunId;
    this.places = fanoutPlaces({ ...input, batchKey: this.batchKey });
    this.pace = { ...defaultFanoutIntervals, ...input.pace };
    this.carried = input.carried ?? newCarriedBatch(input, Date.now());
    this.main = new SourceSlot(this.carried);
    this.deadlineAtMs = this.carried.startedAtMs + input.policy.deadlineMs;
  }

  get place() {
    const { deployment, batchId } = this.input;
    return { deployment, batchId, batchKey: this.batchKey };
  }

  /** All records, by number. One record sums up all chunks that ended before this run. */
  get records(): ChunkRecord[] {
    const { chunks, folded } = this.carried;
    // An object lists its numeric keys in ascending order.
    const records = Object.values(chunks);
    return folded ? [folded, ...records] : records;
  }

  /** Positions of all chunks. */
  get known(): ChunkPlace[] {
    const { chunks, foldedPlaces } = this.carried;
    return [...foldedPlaces, ...Object.values(chunks)];
  }

  /** @param named the source that the chunk names. Default: it has that of the batch */
  take(record: ChunkRecord, named?: Pick<OwnSource, 'digest' | 'end'>): void {
    this.carried.chunks[record.chunk] = record;
    if (named === undefined) return;
    this.carried.sources ??= {};
    const { sources } = this.carried;
    const known = Object.values(sources).find(({ digest }) => digest === named.digest);
    record.source = known?.number ?? record.chunk;
    if (!known) sources[record.chunk] = newOwnSource(record, named);
  }

  /** The sources that only some of the chunks name, by number. */
  get ownSlots(): SourceSlot<OwnSource>[] {
    return Object.values(this.carried.sources ?? {}).map((source) => this.ownSlot(source));
  }

  private ownSlot(source: OwnSource): SourceSlot<OwnSource> {
    const slot = this.own.get(source.number) ?? new SourceSlot(source);
    this.own.set(source.number, slot);
    return slot;
  }

  get slots(): SourceSlot[] {
    return this.input.source ? [this.main, ...this.ownSlots] : this.ownSlots;
  }

  slotOf({ source }: Pick<ChunkRecord, 'source'>): SourceSlot {
    const own = source === undefined ? undefined : this.carried.sources?.[source];
    return own ? this.ownSlot(own) : this.main;
  }

  recordsOf(slot: SourceSlot): ChunkRecord[] {
    return this.records.filter(({ source }) => source === numberOf(slot));
  }

  /** How the chunk stands with its source. */
  termsOf(record: ChunkRecord): SourceTerms {
    const { carried } = this;
    const slot = this.slotOf(record);
    const { source, sourceChange } = slot.carried;
    return {
      hasSource: source !== null,
      isDraining: sourceChange !== null || carried.held != null,
      isEnding: carried.ending !== null || hasFailed(slot),
    };
  }

  /** True if the chunk was never started, or cannot be, so that it has nothing to end. */
  hasNothing(record: ChunkRecord): boolean {
    const { carried, obtaining } = this.slotOf(record);
    if (record.state !== 'waiting') return false;
    if (carried.source !== null) return !mayHaveItems(record);
    return record.attempt === 0 || (obtaining === null && knowsLosses());
  }

  get counts(): FanoutCounts {
    return countsOf(this.records, this.outcome !== null);
  }

  /**
   * The counts that `--fail-fast` goes by: without failures by a lost source, and without those that are neither the
   * agent's nor of a setting.
   */
  get judged(): FanoutCounts {
    const { counts } = this;
    if (this.input.policy.stopAt.kind !== 'fail_fast') return counts;
    const others = othersIn(counts.byClass);
    const lost = sumOf(this.records, ({ report }) => report?.lost ?? 0);
    const unblamed = (lost > 0 && knowsLosses() ? lost : 0) + (others > 0 && knowsClasses() ? others : 0);
    return { ...counts, failed: counts.failed - unblamed };
  }

  get isQuiet(): boolean {
    return this.underWay === 0;
  }

  enter(phase: FanoutPhase): void {
    const { carried } = this;
    if (carried.phase !== phase) carried.sinceMs = Date.now();
    carried.phase = phase;
    this.noteChange();
  }

  /** The phase of a batch is that of its own source. Without one, it begins with the first source that is ready. */
  enterFor(slot: SourceSlot, phase: 'checking_source' | 'running'): void {
    const { carried, obtaining } = this.main;
    const isShown = isOwn(slot) ? phase === 'running' && carried.source === null && !obtaining : true;
    if (isShown && this.carried.phase !== 'ending') this.enter(phase);
    else this.noteChange();
  }

  noteChange(): void {
    this.changes += 1;
    const { queued, running, completed, items, byOutcome } = this.counts;
    const outcomes = Object.entries(byOutcome).map(([outcome, count]) => `${count} ${outcome}`);
    const lines = [
      `**${this.carried.phase.replaceAll('_', ' ')}**`,
      `${completed} of ${items} completed, ${running} running, ${queued} queued`,
    ];
    const { outcome, shortfall, error } = this;
    const end = [
      ...(outcome === null ? [] : [`Outcome: ${endText({ outcome, shortfall })}`]),
      ...(outcome === null || error === null ? [] : [`Error: ${error.code}: ${error.message}`]),
    ];
    setCurrentDetails([...lines, outcomes.join(', '), ...end].join('\n\n'));
  }

  /** Ends the batch before all items had their turn. The first reason counts. */
  end(reason: EndReason, error: JobError | null = null): void {
    if (this.carried.ending !== null) return;
    this.carried.ending = { reason, error: error && cutError(error), atMs: Date.now() };
    this.enter('ending');
  }

  /**
   * Without its source, a batch ends. If the source is only no longer in the state of the first forks, no further item
   * starts, and those that run go on.
   */
  loseSource(slot: SourceSlot, error: JobError): void {
    if (error.code === sourceChangedCode) slot.carried.sourceChange ??= cutError(error);
    else this.failSource(slot, error);
  }

  /** The batch ends without its own source. Without that of some chunks, only these end. */
  failSource(slot: SourceSlot, error: JobError): void {
    if (hasFailed(slot)) return;
    if (!isOwn(slot)) {
      this.end('source_failed', error);
      return;
    }
    slot.carried.hasFailed = true;
    const message = `The source of item ${slot.carried.firstIndex + 1} failed: ${error.message}`;
    this.carried.sourceFailure ??= cutError({ ...error, message });
    this.noteChange();
  }

  /** True once the source has changed, no item of the state before runs or can start, and an item remains. */
  isDrained(slot: SourceSlot): boolean {
    const { sourceChange } = slot.carried;
    const records = this.recordsOf(slot);
    const isDone = records.every(({ items, report }) => (report?.byOutcome.completed ?? 0) === items);
    if (sourceChange === null || (this.carried.seal !== null && isDone)) return false;
    const isIdle = (record: ChunkRecord) =>
      record.state === 'open'
        ? record.charged.window === 0 && record.report?.running === 0
        : !(record.state === 'waiting' && wasStarted(record));
    return records.every(isIdle);
  }

  /**
   * True while the batch accepts items. A batch that is ending still accepts items. It does not start them, but its
   * results list them.
   */
  get takesItems(): boolean {
    const { seal, ending } = this.carried;
    if (this.outcome !== null || seal !== null) return false;
    const reason = ending?.reason;
    return !this.isSubmitterGone && reason !== 'cancelled' && reason !== 'deadline_exceeded';
  }

  /** Applies a chunk's report, unless a newer one arrived first. */
  receiveReport(received: ChunkReport): void {
    const { carried } = this;
    const record = carried.chunks[received.chunk];
    if (!record) return;
    const { streak: _, permanent: __, ...rest } = received;
    const isUnasked = received.streak !== undefined && !knowsHolds();
    const report = withKnown(isUnasked ? rest : received, record.report);
    const [before, isFirst] = [record.report, record.awaitsReport];
    if (!applyReport(record, report)) return;
    const streak = streakAfterReport(carried.streak ?? null, report, { before, isFirst });
    if (streak !== (carried.streak ?? null)) carried.streak = streak;
    record.report = keptReport(report);
    record.reportedAtMs = Date.now();
    this.leave(report.left);
    const { throttledUntilMs, sourceError } = report;
    if (
      throttledUntilMs !== null &&
      throttledUntilMs > (carried.throttle.pausedUntilMs ?? 0) &&
      throttledUntilMs > Date.now()
    ) {
      const refusal = { untilMs: throttledUntilMs, nowMs: Date.now() };
      carried.throttle = throttled(carried.throttle, refusal, this.throttleRules);
    }
    if (sourceError) this.loseSource(this.slotOf(record), sourceError);
    const { limitSeconds, spentSeconds } = this.budget;
    if (limitSeconds !== null) setBudgetLeft(this.input.batchId, limitSeconds - spentSeconds);
    if (report.unreadable) carried.unreadable ??= cutError(report.unreadable);
    // An earlier execution of the batch ended this chunk early. This execution is a resume, so it starts the chunk
    // again.
    if (record.state === 'ended' && record.isAttached && report.wasCut && !carried.ending) {
      startAgain(record);
      record.retryFailed = this.input.resume?.retryFailed === true;
    }
    this.noteChange();
  }

  /** Adds sandboxes and prompts that may still run, up to the limit. */
  leave(left: readonly LeftBehind[]): void {
    const known = this.carried.left;
    for (const one of left) if (Object.keys(known).length < namedAtMost) known[keyOfLeft(one)] = one;
  }

  /** Adds such entries for the batch itself, not for its items. */
  leaveOwn(left: readonly LeftBehind[]): void {
    // The job that prepared the source may have named the same sandbox already.
    this.carried.ownLeftCount += left.filter((one) => !(keyOfLeft(one) in this.carried.left)).length;
    this.leave(left);
  }

  recover(): void {
    const { carried } = this;
    const { limit } = carried.throttle;
    carried.throttle = recovered(carried.throttle, Date.now(), this.throttleRules);
    if (carried.throttle.limit !== limit) this.noteChange();
  }

  private get throttleRules() {
    return { concurrency: this.input.policy.concurrency, recoverEveryMs: this.pace.recoverEveryMs };
  }

  /** Runs work in parallel with the main loop. The work must finish before the run continues as new. */
  inBackground(work: () => Promise<void>): void {
    this.underWay += 1;
    const over = () => {
      this.underWay -= 1;
      this.changes += 1;
    };
    work().then(over, over);
  }

  /** Why the source or, if the source is not blocked, why an item cannot continue by itself. */
  private get blocked(): FanoutProgress['blocked'] {
    const blocked = this.slots.find(({ job }) => job?.blocked)?.job?.blocked;
    if (blocked) return { message: blocked.message, since: blocked.since };
    const { held, ending } = this.carried;
    if (held && ending === null && this.outcome === null) {
      return { message: heldText(this.input.batchId, held), since: held.since };
    }
    return this.records.find(({ state, report }) => state === 'open' && report?.blocked)?.report?.blocked ?? null;
  }

  private get budget(): FanoutProgress['budget'] {
    const reports = this.records.flatMap(({ report }) => report ?? []);
    return {
      limitSeconds: this.input.policy.budgetSeconds,
      spentSeconds: sumOf(reports, ({ budget }) => budget.spentSeconds),
      reservedSeconds: sumOf(reports, ({ budget }) => budget.reservedSeconds),
    };
  }

  progress(): FanoutProgress {
    const { input, carried, counts } = this;
    const { pausedUntilMs } = carried.throttle;
    const isPaused = pausedUntilMs !== null && pausedUntilMs > Date.now();
    return {
      batchId: input.batchId,
      batchKey: this.batchKey,
      title: input.title ?? null,
      phase: carried.phase,
      since: new Date(carried.sinceMs).toISOString(),
      startedAt: new Date(carried.startedAtMs).toISOString(),
      deadlineAt: new Date(this.deadlineAtMs).toISOString(),
      sourceSandboxId: carried.source?.sandboxId ?? null,
      sealed: carried.seal !== null,
      chunks: this.known.length,
      counts,
      budget: this.budget,
      throttledUntil: isPaused ? new Date(pausedUntilMs).toISOString() : null,
      blocked: this.blocked,
      ...(carried.sources && { sources: sourceCountsOf(Object.values(carried.sources)) }),
      ...(carried.held && (carried.ending === null || this.outcome !== null) && { held: carried.held }),
      outcome: this.outcome,
      shortfall: this.shortfall,
      error: this.error,
    };
  }

  /** The input of the next run. */
  carry(): BatchInput {
    this.foldEndedChunks();
    return { ...this.input, carried: this.carried };
  }

  private foldEndedChunks(): void {
    const { carried } = this;
    const { canary = 0 } = this.input.policy;
    // These may prove nothing, which the batch decides once all canaries have ended.
    const isLost = (slot: SourceSlot) => hasFailed(slot) || slot.carried.sourceChange !== null;
    const isUndecided = (record: ChunkRecord) =>
      !carried.isProven && record.firstIndex < canary && isLost(this.slotOf(record));
    const ended = Object.values(carried.chunks).filter((one) => one.state === 'ended' && !isUndecided(one));
    carried.folded = sumEndedChunks(carried.folded ? [carried.folded, ...ended] : ended);
    for (const { chunk, firstIndex, items, digest } of ended) {
      carried.foldedPlaces.push({ chunk, firstIndex, items, digest });
      delete carried.chunks[chunk];
    }
  }
}

function newCarriedBatch({ source, policy, resume }: BatchInput, nowMs: number): CarriedBatch {
  return {
    startedAtMs: nowMs,
    isSurveyed: resume === undefined,
    phase: source === undefined || source.kind === 'prepare' ? 'preparing' : 'checking_source',
    sinceMs: nowMs,
    chunks: {},
    folded: null,
    foldedPlaces: [],
    left: {},
    ownLeftCount: 0,
    arrivedAtMs: 0,
    clockedAtMs: {},
    seal: null,
    ...noSource,
    startedFrom: [],
    // A person who resumes a batch has decided that its items start.
    ...(policy.canary !== undefined && (resume || !knowsHolds()) && { isProven: true }),
    ending: null,
    throttle: freshThrottle(policy.concurrency),
  };
}

function keyOfLeft({ kind, sandboxId, sandboxName, conversationId }: LeftBehind): string {
  return [kind, sandboxId ?? sandboxName, conversationId].join(' ');
}

/** Shortens an error, because every following run carries it. */
export function cutError(error: JobError): JobError {
  return { ...error, message: error.message.slice(0, errorLength), details: null };
}
