/** Small results of batches for the tests of the command line. */
import type { FanoutResult, ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import type { CollectedFile, JobResult } from '../../../../src/protocol/job/job-result.js';
import { promptResult } from '../output/sample-job.js';

export function itemResult(index: number, change: Partial<ItemResult> = {}, job: Partial<JobResult> = {}): ItemResult {
  const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();
  return {
    batchId: 'b',
    itemId: `${index + 1}`,
    index,
    generation: 1,
    outcome: 'completed',
    labels: {},
    type: 'default',
    times: {
      queuedAt: at(0),
      forkedAt: at(1),
      usableAt: at(2),
      promptedAt: at(3),
      answeredAt: at(4),
      endingAt: at(5),
      endedAt: at(6),
    },
    machineSeconds: 5,
    job: {
      jobId: `b/i${index}`,
      outcome: 'completed',
      sandboxId: `bx_2345abc${index % 10}`,
      sandboxName: 'n',
      prompts: [promptResult()],
      setup: null,
      stop: null,
      deletion: null,
      files: [],
      degraded: null,
      left: [],
      wakes: [],
      wakeCount: 0,
      phases: [],
      apiCalls: 5,
      durationMs: 6_000,
      error: null,
      ...job,
    },
    ...change,
  };
}

export function collectedFile(path: string, ref: string | null): CollectedFile {
  return {
    path,
    size: 1,
    sha256: null,
    ref,
    error: ref === null ? 'not there' : null,
    partial: false,
    unchanged: null,
  };
}

export function batchResult(change: Partial<FanoutResult> = {}): FanoutResult {
  return {
    batchId: 'b',
    batchKey: 'key',
    title: null,
    phase: 'ended',
    since: '2026-03-01T10:01:00Z',
    startedAt: '2026-03-01T10:00:00Z',
    deadlineAt: '2026-03-02T10:00:00Z',
    sourceSandboxId: 'bx_2345abcd',
    sealed: true,
    chunks: 1,
    counts: { items: 3, queued: 0, running: 0, completed: 3, failed: 0, retried: 0, byOutcome: { completed: 3 } },
    budget: { limitSeconds: null, spentSeconds: 15, reservedSeconds: 0 },
    throttledUntil: null,
    blocked: null,
    outcome: 'completed',
    shortfall: null,
    error: null,
    apiCalls: 15,
    durationMs: 60_000,
    resultsRef: null,
    left: [],
    leftMore: 0,
    leftSandboxIds: [],
    ...change,
  };
}
