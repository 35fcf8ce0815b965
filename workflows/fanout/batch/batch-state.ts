/** The state of one batch: its chunks, their grants and reports, and its end. */
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { type FanoutPlaces, fanoutPlaces } from '../../../src/contract/workflow-safe/fanout-addresses.js';
import type {
  BatchClock,
  BatchInput,
  CarriedBatch,
  ChunkPlace,
  ChunkRecord,
  ChunkReport,
  EndReason,
  ReadySource,
  SealRequest,
  Throttle,
} from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutIntervals, FanoutOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutCounts, FanoutPhase, FanoutProgress } from '../../../src/protocol/fanout/fanout-progress.js';
import type { JobError, LeftBehind } from '../../../src/protocol/job/job-result.js';
import type { JobState } from '../../job/job-state.js';
import { defaultFanoutIntervals } from '../../shared/wait-intervals.js';
import { ChildStartLimit } from '../child-start-limit.js';
import { applyReport, keptReport, startAgain, sumEndedChunks } from './chunk-record.js';
import { countsOf, sumOf } from './counts.js';
import { packChunk, packPlace, placeOf, unpackChunk } from './pack-chunk.js';
import { freshThrottle, recovered, throttled } from './throttle.js';

const namedAtMost = 100;
const errorLength = 1_000;

export class BatchState {
  readonly batchKey: string;
  readonly places: FanoutPlaces;
  readonly pace: FanoutIntervals;
  readonly startedAtMs: number;
  readonly deadlineAtMs: number;
  /** Chunks that have not ended, or that ended in this run. */
  readonly chunks: Map<number, ChunkRecord>;
  /** Sum of all chunks that ended in earlier runs. */
  private readonly folded: ChunkRecord | null;
  /** Position of every chunk's items. */
  readonly known = new Map<number, ChunkPlace>();
  seal: SealRequest | null;
  source: ReadySource | null;
  preparedSandboxId: string | null;
  ending: CarriedBatch['ending'];
  throttle: Throttle;
  /** When the lease on the source was last granted, in ms since the epoch, or null. */
  leasedAtMs: number | null;
  /** Number of calls of the batch itself; the reports count the calls of its items. */
  apiCalls: number;
  outcome: FanoutOutcome | null = null;
  error: JobError | null = null;
  /**
   * The state with which the batch makes calls for its source, while it obtains or ends the source. It receives the
   * events of the batch.
   */
  sourceJob: JobState | null = null;
  /** Sandboxes and prompts that may still run, up to a limit. */
  readonly left: Map<string, LeftBehind>;
  /** Number of entries of the batch itself. Reports of chunks do not include them. */
  ownLeftCount: number;
  /** When each periodic task was last due, in ms since the epoch. */
  readonly clockedAtMs: Partial<Record<BatchClock, number>>;
  /** Number of updates and signals that this run has received. */
  messages = 0;
  /** Chunks whose Update is in progress. */
  readonly arriving = new Set<number>();
  /** Chunks to which a grant is being sent, or that are being started. */
  readonly sending = new Set<number>();
  readonly starts = new ChildStartLimit();
  /** False until the work of an earlier execution is known. */
  isSurveyed: boolean;
  /** True while the run prepares to continue as new. */
  isPausing = false;
  /** True once the time limit for the end is over, even if items still run. */
  isGivenUp = false;
  /** When the last chunk arrived, in ms since the epoch. */
  arrivedAtMs: number;
  /** True once an ending batch no longer waits for items that are still to be submitted. */
  isSubmitterGone = false;
  /** Counts changes. The main loop acts when this number grows. */
  changes = 0;
  private phase: FanoutPhase;
  private sinceMs: number;
  private underWay = 0;

  constructor(readonly input: BatchInput) {
    const { carried, policy } = input;
    this.batchKey = input.batchKey ?? workflowInfo().firstExecutionRunId;
    this.places = fanoutPlaces({ ...input, batchKey: this.batchKey });
    this.pace = { ...defaultFanoutIntervals, ...input.pace };
    this.startedAtMs = carried?.startedAtMs ?? Date.now();
    this.deadlineAtMs = this.startedAtMs + policy.deadlineMs;
    this.chunks = new Map();
    this.folded = carried?.folded ?? null;
    for (const place of carried?.places ?? []) this.known.set(place[0], placeOf(place));
    for (const packed of carried?.chunks ?? []) this.take(unpackChunk(packed, this.startedAtMs));
    const blocked = this.records.find(({ state, report }) => state === 'open' && report?.blocked);
    if (blocked?.report?.blocked && carried?.blocked) {
      blocked.report = { ...blocked.report, blocked: { ...blocked.report.blocked, message: carried.blocked } };
    }
    this.left = new Map((carried?.left ?? []).map((one) => [keyOfLeft(one), one]));
    this.ownLeftCount = carried?.ownLeftCount ?? 0;
    this.clockedAtMs = { ...carried?.clockedAtMs };
    this.arrivedAtMs = carried?.arrivedAtMs ?? 0;
    this.seal = carried?.seal ?? null;
    this.source = carried?.source ?? null;
    this.preparedSandboxId = carried?.preparedSandboxId ?? null;
    this.ending = carried?.ending ?? null;
    this.throttle = carried?.throttle ?? freshThrottle(policy.concurrency);
    this.leasedAtMs = carried?.leasedAtMs ?? null;
    this.apiCalls = carried?.apiCalls ?? 0;
    this.isSurveyed = carried !== undefined || input.resume === undefined;
    this.phase = carried?.phase ?? (input.source.kind === 'prepare' ? 'preparing' : 'checking_source');
    this.sinceMs = carried?.sinceMs ?? this.startedAtMs;
  }

  get place() {
    const { deployment, batchId } = this.input;
    return { deployment, batchId, batchKey: this.batchKey };
  }

  /** All records, by number. One record sums up all chunks that ended before this run. */
  get records(): ChunkRecord[] {
    const records = [...this.chunks.values()].sort((a, b) => a.chunk - b.chunk);
    return this.folded ? [this.folded, ...records] : records;
  }

  take(record: ChunkRecord): void {
    const { chunk, firstIndex, items, digest } = record;
    this.chunks.set(chunk, record);
    this.known.set(chunk, { chunk, firstIndex, items, digest });
  }

  get counts(): FanoutCounts {
    return countsOf(this.records, this.outcome !== null);
  }

  get isQuiet(): boolean {
    return this.underWay === 0;
  }

  enter(phase: FanoutPhase): void {
    if (this.phase !== phase) this.sinceMs = Date.now();
    this.phase = phase;
    this.noteChange();
  }

  noteChange(): void {
    this.changes += 1;
    const { queued, running, completed, items, byOutcome } = this.counts;
    const outcomes = Object.entries(byOutcome).map(([outcome, count]) => `${count} ${outcome}`);
    const lines = [
      `**${this.phase.replaceAll('_', ' ')}**`,
      `${completed} of ${items} completed, ${running} running, ${queued} queued`,
    ];
    const { outcome, error } = this;
    const end = [
      ...(outcome === null ? [] : [`Outcome: ${outcome}`]),
      ...(outcome === null || error === null ? [] : [`Error: ${error.code}: ${error.message}`]),
    ];
    setCurrentDetails([...lines, outcomes.join(', '), ...end].join('\n\n'));
  }

  /** Ends the batch before all items had their turn. The first reason counts. */
  end(reason: EndReason, error: JobError | null = null): void {
    if (this.ending !== null) return;
    this.ending = { reason, error: error && cutError(error), atMs: Date.now() };
    this.enter('ending');
  }

  /**
   * True while the batch accepts items. A batch that is ending still accepts items. It does not start them, but its
   * results list them.
   */
  get takesItems(): boolean {
    if (this.outcome !== null || this.seal !== null) return false;
    const reason = this.ending?.reason;
    return !this.isSubmitterGone && reason !== 'cancelled' && reason !== 'deadline_exceeded';
  }

  /** Applies a chunk's report, unless a newer one arrived first. */
  receiveReport(report: ChunkReport): void {
    const record = this.chunks.get(report.chunk);
    if (!record || !applyReport(record, report)) return;
    record.report = keptReport(report);
    record.reportedAtMs = Date.now();
    this.leave(report.left);
    const { throttledUntilMs, sourceError } = report;
    if (
      throttledUntilMs !== null &&
      throttledUntilMs > (this.throttle.pausedUntilMs ?? 0) &&
      throttledUntilMs > Date.now()
    ) {
      this.throttle = throttled(this.throttle, { untilMs: throttledUntilMs, nowMs: Date.now() }, this.throttleRules);
    }
    if (sourceError) this.end('source_failed', sourceError);
    // An earlier execution of the batch ended this chunk early. This execution is a resume, so it starts the chunk
    // again.
    if (record.state === 'ended' && record.isAttached && report.wasCut && !this.ending) {
      startAgain(record);
      record.retryFailed = this.input.resume?.retryFailed === true;
    }
    this.noteChange();
  }

  /** Adds sandboxes and prompts that may still run, up to the limit. */
  leave(left: readonly LeftBehind[]): void {
    for (const one of left) if (this.left.size < namedAtMost) this.left.set(keyOfLeft(one), one);
  }

  /** Adds such entries for the batch itself, not for its items. */
  leaveOwn(left: readonly LeftBehind[]): void {
    // The job that prepared the source may have named the same sandbox already.
    this.ownLeftCount += left.filter((one) => !this.left.has(keyOfLeft(one))).length;
    this.leave(left);
  }

  recover(): void {
    const { limit } = this.throttle;
    this.throttle = recovered(this.throttle, Date.now(), this.throttleRules);
    if (this.throttle.limit !== limit) this.noteChange();
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
    const { blocked } = this.sourceJob ?? {};
    if (blocked) return { message: blocked.message, since: blocked.since };
    return this.records.find(({ state, report }) => state === 'open' && report?.blocked)?.report?.blocked ?? null;
  }

  progress(): FanoutProgress {
    const { input, throttle, counts } = this;
    const reports = this.records.flatMap(({ report }) => report ?? []);
    const isPaused = throttle.pausedUntilMs !== null && throttle.pausedUntilMs > Date.now();
    return {
      batchId: input.batchId,
      batchKey: this.batchKey,
      title: input.title ?? null,
      phase: this.phase,
      since: new Date(this.sinceMs).toISOString(),
      startedAt: new Date(this.startedAtMs).toISOString(),
      deadlineAt: new Date(this.deadlineAtMs).toISOString(),
      sourceSandboxId: this.source?.sandboxId ?? null,
      sealed: this.seal !== null,
      chunks: this.known.size,
      counts,
      budget: {
        limitSeconds: input.policy.budgetSeconds,
        spentSeconds: sumOf(reports, ({ budget }) => budget.spentSeconds),
        reservedSeconds: sumOf(reports, ({ budget }) => budget.reservedSeconds),
      },
      throttledUntil: isPaused ? new Date(throttle.pausedUntilMs).toISOString() : null,
      blocked: this.blocked,
      outcome: this.outcome,
      error: this.error,
    };
  }

  carry(): BatchInput {
    const { startedAtMs, phase, sinceMs, seal, source, preparedSandboxId, ending, throttle, apiCalls } = this;
    const state = { startedAtMs, phase, sinceMs, seal, source, preparedSandboxId, ending, throttle, apiCalls };
    const { arrivedAtMs, clockedAtMs, leasedAtMs } = this;
    const open = this.records.filter((record) => record.state !== 'ended');
    const isOpen = new Set(open.map(({ chunk }) => chunk));
    const carried: CarriedBatch = {
      ...state,
      arrivedAtMs,
      clockedAtMs,
      leasedAtMs,
      chunks: open.map((record) => packChunk(record, startedAtMs)),
      places: [...this.known.values()].filter(({ chunk }) => !isOpen.has(chunk)).map(packPlace),
      folded: sumEndedChunks(this.records.filter((record) => record.state === 'ended')),
      blocked: this.blocked?.message ?? null,
      left: [...this.left.values()],
      ownLeftCount: this.ownLeftCount,
    };
    return { ...this.input, batchKey: this.batchKey, carried };
  }
}

function keyOfLeft({ kind, sandboxId, sandboxName, conversationId }: LeftBehind): string {
  return [kind, sandboxId ?? sandboxName, conversationId].join(' ');
}

/** Shortens an error, because every following run carries it. */
function cutError(error: JobError): JobError {
  return { ...error, message: error.message.slice(0, errorLength), details: null };
}
