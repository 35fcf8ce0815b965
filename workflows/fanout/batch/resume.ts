/** Resumes a batch from what an earlier execution left in the result store and in chunks that still run. */
import type { SurveyedChunk } from '../../../activities/fanout/store.js';
import { accounted } from '../chunk/item-reservation.js';
import { isFailure } from '../chunk/retry-policy.js';
import type { ChunkRecord, HeardReport } from '../protocol.js';
import { bulk, lookups } from '../proxies.js';
import type { ItemOutcome } from '../types.js';
import { newRecord } from './chunk-record.js';
import { unfinished } from './counts.js';
import { greet } from './dispatch-grants.js';
import type { BatchState } from './state.js';

const describedAtOnce = 100;

export async function resumeFromStore(
  run: BatchState,
  { retryFailed }: { readonly retryFailed: boolean },
): Promise<void> {
  const { chunks, seal } = await bulk.surveyFanout(run.place);
  const records = chunks.map((chunk) => recordOf(chunk, { retryFailed, nowMs: Date.now() }));
  const open = await stillOpen(run, records);
  for (const record of records) {
    run.take(record);
    if (open.has(record.chunk)) greet(run, record);
  }
  run.seal = seal;
  run.isSurveyed = true;
  run.tellNews();
}

async function stillOpen(run: BatchState, records: readonly ChunkRecord[]): Promise<ReadonlySet<number>> {
  const open = new Set<number>();
  for (let from = 0; from < records.length; from += describedAtOnce) {
    const asked = records.slice(from, from + describedAtOnce);
    const statuses = await lookups.describeWorkflows(asked.map(({ chunk }) => run.places.chunkWorkflow(chunk)));
    for (const [at, { chunk }] of asked.entries()) if (statuses[at] === 'RUNNING') open.add(chunk);
  }
  return open;
}

function recordOf(
  chunk: SurveyedChunk,
  options: { readonly retryFailed: boolean; readonly nowMs: number },
): ChunkRecord {
  const { retryFailed, nowMs } = options;
  const stands = (outcome: ItemOutcome) => outcome === 'completed' || (!retryFailed && isFailure(outcome));
  const byOutcome = Object.fromEntries(
    (Object.entries(chunk.byOutcome) as [ItemOutcome, number][]).filter(([outcome]) => stands(outcome)),
  );
  const report = silentReport(chunk, byOutcome);
  const isDone = unfinished({ items: chunk.items, report }) === 0;
  return {
    ...newRecord(chunk, nowMs),
    state: isDone ? 'ended' : 'waiting',
    isFresh: false,
    retryFailed,
    charged: { window: 0, budgetSeconds: report.budget.spentSeconds },
    report,
  };
}

/** A report built from the result store, until the chunk sends its own. */
function silentReport(chunk: SurveyedChunk, byOutcome: HeardReport['byOutcome']): HeardReport {
  const spentSeconds = accounted(chunk.spentSeconds);
  return {
    chunk: chunk.chunk,
    attempt: 0,
    report: 0,
    seq: 0,
    window: 0,
    running: 0,
    byOutcome,
    retried: 0,
    budget: { grantedSeconds: spentSeconds, spentSeconds, reservedSeconds: 0, nextSeconds: 0, wantedSeconds: 0 },
    throttledUntilMs: null,
    blocked: null,
    leftCount: 0,
    apiCalls: 0,
    isEnding: false,
    hasEnded: false,
    wasCut: false,
  };
}
