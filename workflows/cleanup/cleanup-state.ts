/** The state of one cleanup: its progress, what blocks it, and whom it notifies. */
import { log, setCurrentDetails, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type {
  ActionResult,
  CarriedCleanup,
  CleanupCounts,
  CleanupInput,
  CleanupMemo,
  CleanupOutcome,
  CleanupProgress,
  CleanupSettings,
  CleanupSummary,
} from '../../src/protocol/cleanup.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import type { JobProgress } from '../../src/protocol/job/job-progress.js';
import type { JobError } from '../../src/protocol/job/job-result.js';
import { apiCalls } from '../shared/count-api-calls.js';
import { EventInbox } from '../shared/event-inbox.js';
import type { Caller } from '../shared/retry-refusals.js';
import { defaultTiming } from '../shared/wait-intervals.js';

const defaultSettings: CleanupSettings = {
  settleMs: 2_000,
  planDeadlineMs: 7_200_000,
  concurrency: 5,
  chunkSize: 50,
  actionDeadlineMs: 900_000,
  deletionAttempts: 3,
  timing: {},
  maxHistoryEvents: null,
};

/** A cleanup holds the claim of a sandbox while it waits, and others wait for that claim. */
const safetyPollMaxMs = 30_000;

const noCounts: CleanupCounts = {
  stopped: 0,
  deleted: 0,
  gone: 0,
  escalating: 0,
  skipped: 0,
  failed: 0,
  not_confirmed: 0,
  not_reached: 0,
};

export class CleanupState implements Caller {
  readonly settings: CleanupSettings;
  readonly timing: JobTiming;
  /** Events of the sandboxes that the cleanup has claimed. No wait outlasts a run, so the next run needs none of them. */
  readonly inbox = new EventInbox();
  /** Prefix of this cleanup's keys in the result store. */
  readonly key: string;
  readonly carried: CarriedCleanup;
  readonly input: Caller['input'];
  readonly sandbox = null;
  phase: CleanupProgress['phase'] = 'planning';
  blocked: JobProgress['blocked'] = null;
  removal: CleanupSummary['results'];

  constructor(readonly cleanup: CleanupInput) {
    const { policy, settings } = cleanup;
    const { workflowId, firstExecutionRunId, startTime } = workflowInfo();
    this.settings = { ...defaultSettings, ...settings };
    this.timing = { ...defaultTiming, safetyPollMaxMs, ...this.settings.timing };
    this.key = `cleanups/${workflowId}/${firstExecutionRunId}`;
    this.carried = cleanup.carried ?? newCarriedCleanup(startTime.toISOString());
    this.input = { jobId: null, notify: policy.notify ?? undefined };
  }

  /**
   * Records planned actions in the memo. Even if this run is killed, other runs of the same night then count these
   * actions.
   */
  reserve(actions: number): void {
    const { stopped, deleted, gone, escalating = 0, failed, not_confirmed: unconfirmed } = this.carried.counts;
    const fleet = this.carried.planned?.fleet ?? null;
    const acted = stopped + deleted + gone + escalating + failed + unconfirmed + actions;
    const memo: CleanupMemo = { policy: this.cleanup.policy.name, mode: this.cleanup.mode, acted, fleet };
    upsertMemo({ ...memo });
  }

  /** Number of actions without a result. */
  get left(): number {
    const { counts, planned } = this.carried;
    const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return Math.max(0, (planned?.due ?? 0) - known);
  }

  count(results: readonly ActionResult[]): void {
    const counts = { ...this.carried.counts };
    for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
    this.carried.counts = counts;
  }

  block(blocked: Omit<NonNullable<JobProgress['blocked']>, 'since'>): void {
    this.blocked = { ...blocked, since: new Date().toISOString() };
    log.warn('The cleanup is blocked', { ...blocked });
    setCurrentDetails(`Blocked: ${blocked.message}`);
  }

  unblock(): void {
    this.blocked = null;
    setCurrentDetails('');
  }

  progress(): CleanupProgress {
    const { planned, counts } = this.carried;
    return { phase: this.phase, due: planned?.due ?? null, counts, blocked: this.blocked };
  }

  summary(outcome: CleanupOutcome, error: JobError | null): CleanupSummary {
    const { startedAt, counts } = this.carried;
    const { chunks: _, ...planned } = this.carried.planned ?? { chunks: [] };
    return {
      workflowId: workflowInfo().workflowId,
      policy: this.cleanup.policy.name,
      outcome,
      startedAt,
      endedAt: new Date().toISOString(),
      planned: this.carried.planned === null ? null : (planned as CleanupSummary['planned']),
      counts,
      machinesLeft: null,
      results: this.removal,
      reportRef: null,
      apiCalls: apiCalls(),
      error,
    };
  }

  /** The input of the next run. */
  carry(): CleanupInput {
    return { ...this.cleanup, carried: this.carried };
  }
}

function newCarriedCleanup(startedAt: string): CarriedCleanup {
  return { startedAt, planned: null, nextChunk: 0, counts: noCounts, resultRefs: [] };
}
