/** The state of one cleanup: its progress, what blocks it, and whom it notifies. */
import { log, setCurrentDetails, upsertMemo, workflowInfo } from '@temporalio/workflow';
import type {
  ActionResult,
  CleanupCounts,
  CleanupInput,
  CleanupMemo,
  CleanupOutcome,
  CleanupPlanned,
  CleanupProgress,
  CleanupSettings,
  CleanupSummary,
} from '../../src/protocol/cleanup.js';
import type { JobProgress } from '../../src/protocol/job/job-progress.js';
import type { JobError } from '../../src/protocol/job/job-result.js';
import type { Caller } from '../shared/retry-refusals.js';

const defaultSettings: CleanupSettings = {
  settleMs: 2_000,
  planDeadlineMs: 7_200_000,
  concurrency: 5,
  chunkSize: 50,
  actionDeadlineMs: 900_000,
  deletionAttempts: 3,
  lookFirstMs: 500,
  lookMaxMs: 30_000,
  readLagMs: 90_000,
  maxHistoryEvents: null,
};

const noCounts: CleanupCounts = {
  stopped: 0,
  deleted: 0,
  gone: 0,
  skipped: 0,
  failed: 0,
  not_confirmed: 0,
  not_reached: 0,
};

export class CleanupState implements Caller {
  readonly settings: CleanupSettings;
  /** Prefix of this cleanup's keys in the result store. */
  readonly key: string;
  readonly startedAt: string;
  readonly input: Caller['input'];
  readonly sandbox = null;
  phase: CleanupProgress['phase'] = 'planning';
  planned: CleanupPlanned | null;
  nextChunk: number;
  counts: CleanupCounts;
  resultRefs: readonly string[];
  apiCalls: number;
  blocked: JobProgress['blocked'] = null;

  constructor(readonly cleanup: CleanupInput) {
    const { carried, policy, settings } = cleanup;
    const { workflowId, firstExecutionRunId, startTime } = workflowInfo();
    this.settings = { ...defaultSettings, ...settings };
    this.key = `cleanups/${workflowId}/${firstExecutionRunId}`;
    this.startedAt = carried?.startedAt ?? startTime.toISOString();
    this.input = { jobId: null, notify: policy.notify ?? undefined };
    this.planned = carried?.planned ?? null;
    this.nextChunk = carried?.nextChunk ?? 0;
    this.counts = carried?.counts ?? noCounts;
    this.resultRefs = carried?.resultRefs ?? [];
    this.apiCalls = carried?.apiCalls ?? 0;
  }

  /**
   * Records planned actions in the memo. Even if this run is killed, other runs of the same night then count these
   * actions.
   */
  reserve(actions: number): void {
    const { stopped, deleted, gone, failed, not_confirmed: unconfirmed } = this.counts;
    const fleet = this.planned?.fleet ?? null;
    const acted = stopped + deleted + gone + failed + unconfirmed + actions;
    const memo: CleanupMemo = { policy: this.cleanup.policy.name, mode: this.cleanup.mode, acted, fleet };
    upsertMemo({ ...memo });
  }

  /** Number of actions without a result. */
  get left(): number {
    const known = Object.values(this.counts).reduce((sum, count) => sum + count, 0);
    return Math.max(0, (this.planned?.due ?? 0) - known);
  }

  count(results: readonly ActionResult[]): void {
    const counts = { ...this.counts };
    for (const { outcome } of results) counts[outcome] += 1;
    this.counts = counts;
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
    return { phase: this.phase, due: this.planned?.due ?? null, counts: this.counts, blocked: this.blocked };
  }

  summary(outcome: CleanupOutcome, error: JobError | null): CleanupSummary {
    const { chunks: _, ...planned } = this.planned ?? { chunks: [] };
    return {
      workflowId: workflowInfo().workflowId,
      policy: this.cleanup.policy.name,
      outcome,
      startedAt: this.startedAt,
      endedAt: new Date().toISOString(),
      planned: this.planned === null ? null : (planned as CleanupSummary['planned']),
      counts: this.counts,
      reportRef: null,
      apiCalls: this.apiCalls,
      error,
    };
  }

  carry(): CleanupInput {
    const { startedAt, planned, nextChunk, counts, resultRefs, apiCalls } = this;
    if (planned === null) return this.cleanup;
    return { ...this.cleanup, carried: { startedAt, planned, nextChunk, counts, resultRefs, apiCalls } };
  }
}
