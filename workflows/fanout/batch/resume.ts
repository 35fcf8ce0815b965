/**
 * Resumes a batch: reads the objects that an earlier execution left in the result store, and asks the chunks that still
 * run.
 */
import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { SurveyedChunk } from '../../../activities/fanout/store.js';
import type { BatchInput, ChunkRecord } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import { maxChunks } from '../../../src/protocol/limits.js';
import { bulk, lookups } from '../../shared/activity-options.js';
import { accounted } from '../chunk/budget.js';
import { isFailure } from '../chunk/retry-policy.js';
import type { BatchState } from './batch-state.js';
import { builtReport, newRecord } from './chunk-record.js';
import { outcomesOf, sumCounts, unfinished } from './counts.js';
import { requestReport } from './dispatch-grants.js';

const describedAtOnce = 100;

export async function resumeFromStore(
  batch: BatchState,
  { retryFailed, changed }: NonNullable<BatchInput['resume']>,
): Promise<void> {
  const survey = { place: batch.place, ...(changed && { changed }) };
  const { chunks, startedFrom, seal } = await bulk.surveyFanout(survey);
  const records = chunks.map((chunk) => recordOf(chunk, { retryFailed, nowMs: Date.now() }));
  const open = await stillOpen(batch, records);
  for (const [at, record] of records.entries()) {
    const { sourceDigest: digest, sourceEnd: end } = chunks[at] ?? {};
    batch.take(record, digest === undefined ? digest : { digest, ...(end && { end }) });
    if (open.has(record.chunk)) requestReport(batch, record);
  }
  batch.carried.startedFrom = startedFrom;
  batch.carried.seal = seal;
  batch.carried.isSurveyed = true;
  batch.noteChange();
}

async function stillOpen(batch: BatchState, records: readonly ChunkRecord[]): Promise<ReadonlySet<number>> {
  const open = new Set<number>();
  for (let from = 0; from < records.length; from += describedAtOnce) {
    const some = records.slice(from, from + describedAtOnce);
    const statuses = await lookups.describeWorkflows(some.map(({ chunk }) => batch.places.chunkWorkflow(chunk)));
    for (const [at, { chunk }] of some.entries()) if (statuses[at] === 'RUNNING') open.add(chunk);
  }
  return open;
}

/** Cancels the chunks of an earlier execution that run, without what is stored of them. @returns their number */
export async function cancelChunks({ places }: BatchState): Promise<number> {
  let cancelled = 0;
  for (let from = 0; from < maxChunks; from += describedAtOnce) {
    const workflowIds = Array.from({ length: describedAtOnce }, (_, at) => places.chunkWorkflow(from + at));
    const statuses = await lookups.describeWorkflows(workflowIds);
    const running = workflowIds.filter((_, at) => statuses[at] === 'RUNNING');
    for (const workflowId of running)
      await getExternalWorkflowHandle(workflowId)
        .cancel()
        .catch(() => undefined);
    cancelled += running.length;
    if (statuses.every((status) => status === 'NOT_FOUND')) break;
  }
  return cancelled;
}

function recordOf(
  chunk: SurveyedChunk,
  options: { readonly retryFailed: boolean; readonly nowMs: number },
): ChunkRecord {
  const { retryFailed, nowMs } = options;
  const isFinal = (outcome: ItemOutcome) => outcome === 'completed' || (!retryFailed && isFailure(outcome));
  const final = Object.fromEntries(outcomesOf(chunk.byOutcome).filter(([outcome]) => isFinal(outcome)));
  const counts = sumCounts([
    { byOutcome: final, byClass: retryFailed ? {} : chunk.byClass },
    { byOutcome: chunk.leftAlone ?? {}, byClass: chunk.leftAloneByClass },
  ]);
  // The batch uses this report until the chunk sends its own.
  const report = builtReport(chunk.chunk, { ...counts, spentSeconds: accounted(chunk.spentSeconds) });
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
