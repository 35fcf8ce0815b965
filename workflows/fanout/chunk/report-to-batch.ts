/** Reports the progress of a chunk to the batch: urgent changes soon, other changes at a limited rate. */
import { condition, getExternalWorkflowHandle, sleep } from '@temporalio/workflow';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import type { ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import type { LeftBehind } from '../../../src/protocol/job/job-result.js';
import { chunkReportSignal } from '../../../src/protocol/messages.js';
import { bulk } from '../../shared/activity-options.js';
import { apiCalls } from '../../shared/count-api-calls.js';
import { addLeft } from '../left-list.js';
import type { ChunkState } from './chunk-state.js';
import { unendedFork } from './unended-fork.js';

/** Urgent reports may be sent this many times as often as other reports. */
const urgency = 5;

/**
 * Sends one report at a time. There is also a minimum interval between urgent reports, so that a busy chunk does not
 * overload the batch.
 * @returns the last report, once the chunk has ended
 */
export async function reportToBatch(chunk: ChunkState): Promise<ChunkReport> {
  const { deployment, batchId, pace } = chunk.input;
  const batch = getExternalWorkflowHandle(jobWorkflowId(deployment, batchId));
  let reported = 0;
  let reportedUrgent = 0;
  let nextUrgentAtMs = 0;
  for (;;) {
    await condition(() => chunk.changes !== reported && (!chunk.isPausing || chunk.isOver));
    const isUrgent = () => chunk.urgentChanges !== reportedUrgent || chunk.hasRunAll;
    if (!isUrgent()) await condition(isUrgent, pace.reportEveryMs, { summary: 'until the next report' });
    if (Date.now() < nextUrgentAtMs) await sleep(nextUrgentAtMs - Date.now(), { summary: 'until the next report' });
    if (chunk.isPausing && !chunk.isOver) continue;
    reported = chunk.changes;
    reportedUrgent = chunk.urgentChanges;
    void addEndings(chunk);
    // The last report follows when they are written.
    if (chunk.hasRunAll && !chunk.isOver) continue;
    nextUrgentAtMs = Date.now() + pace.reportEveryMs / urgency;
    const report = reportOf(chunk);
    try {
      await chunk.counting(() => batch.signal(chunkReportSignal, report));
    } catch {
      // The batch has ended. The items continue within the existing grants. If the batch is resumed, it requests
      // reports again.
    }
    if (report.hasEnded) return report;
  }
}

/** Writes all endings that are known, unless a write is under way. The next run repeats what this one has not confirmed. */
async function addEndings(chunk: ChunkState): Promise<void> {
  const { endings } = chunk.carried;
  const written = endings.length;
  if (chunk.isAddingEndings || written === 0) return;
  chunk.isAddingEndings = true;
  try {
    await bulk.addItemEndings.executeWithOptions({ summary: `ends of ${written} items` }, [[...endings]]);
  } catch {
    // The results lack how their forks ended. A resume of the batch would end these again.
  }
  chunk.isAddingEndings = false;
  endings.splice(0, written);
  if (chunk.hasRunAll) chunk.noteChange('now');
}

/**
 * Creates the next report. Do not call it twice for one report: it takes the unused part of the grant from the chunk,
 * and returns it to the batch.
 */
export function reportOf(chunk: ChunkState): ChunkReport {
  returnUnused(chunk);
  const { input, carried, running, waiting } = chunk;
  const { grant, throttledUntilMs, sourceError } = carried;
  const list = { left: [...carried.left], leftMore: carried.leftMore };
  if (chunk.isOver) addLeft(list, unendedForks(chunk));
  const [blocked] = carried.blocked;
  const byClass = chunk.byClass();
  return {
    chunk: input.chunk,
    attempt: input.attempt,
    report: chunk.nextReport(),
    seq: grant.seq,
    window: grant.window,
    running: running.length,
    byOutcome: chunk.byOutcome(),
    ...(Object.keys(byClass).length > 0 && { byClass }),
    retried: carried.items.reduce((sum, { retried, excused = 0 }) => sum + retried + excused, 0),
    ...(carried.lost !== undefined && { lost: carried.lost }),
    ...(carried.streak !== undefined && { streak: carried.streak }),
    ...(carried.permanent !== undefined && { permanent: carried.permanent }),
    budget: {
      grantedSeconds: grant.budgetSeconds,
      spentSeconds: carried.spentSeconds,
      reservedSeconds: chunk.reservedSeconds,
      ...budgetNeeds(chunk),
    },
    throttledUntilMs,
    blocked: blocked ? { message: blocked.message, since: blocked.since } : null,
    sourceError,
    ...(chunk.unreadable && { unreadable: chunk.unreadable }),
    ...list,
    apiCalls: apiCalls(),
    isEnding: chunk.isEnding,
    hasEnded: chunk.isOver,
    wasCut: chunk.isOver && waiting.length > 0,
  };
}

/** Forks of items whose workflows were terminated and are not started again. */
function unendedForks({ input, waiting }: ChunkState): LeftBehind[] {
  const why = 'The workflow of the item was terminated; its fork may still run.';
  const lost = waiting.filter(({ carried }) => carried.losses > 0);
  return lost.map(({ index, carried: { generation } }) => unendedFork(input, { index, generation }, why));
}

/** Returns the part of the window that exceeds the remaining items, and the budget that no waiting item can use. */
function returnUnused(chunk: ChunkState): void {
  if (!chunk.isLoaded) return;
  const [waiting, startable] = chunk.isEnding ? [[], []] : [chunk.waiting, chunk.startable];
  const { carried } = chunk;
  const window = Math.min(carried.grant.window, chunk.running.length + waiting.length);
  carried.grant = { ...carried.grant, window };
  const { freeSeconds: free } = chunk;
  const { budgetSeconds } = carried.grant;
  if (budgetSeconds === null || free === null || free <= 0) return;
  // Without a window the chunk cannot use its budget, and other chunks may need it.
  const canUse = window > 0 && startable.some(({ costSeconds }) => costSeconds <= free);
  if (!canUse) carried.grant = { ...carried.grant, budgetSeconds: budgetSeconds - free };
}

function budgetNeeds(chunk: ChunkState): { readonly nextSeconds: number; readonly wantedSeconds: number } {
  const none = { nextSeconds: 0, wantedSeconds: 0 };
  const { freeSeconds: free } = chunk;
  if (free === null || chunk.isEnding || !chunk.isLoaded) return none;
  const room = chunk.carried.grant.window - chunk.running.length;
  const costs = chunk.startable.map(({ costSeconds }) => costSeconds);
  const cheapest = Math.min(...costs);
  if (room <= 0 || costs.length === 0 || cheapest <= free) return none;
  const wanted = costs.slice(0, room).reduce((sum, cost) => sum + cost, 0);
  return { nextSeconds: cheapest - free, wantedSeconds: Math.max(cheapest, wanted) - free };
}
