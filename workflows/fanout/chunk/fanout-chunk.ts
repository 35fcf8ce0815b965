/**
 * Runs a part of the items of a batch, each in its own workflow:
 *
 *     read items ─► start what may start ⇄ item ended, granted more, pause over ─► all ended ─► report
 *
 * It stays within the grants of the batch: a number of concurrent items (the window), a budget, a pause. Grants and
 * progress reports are signals, so the chunk keeps running if the batch continues as new or is terminated. In the same
 * way, its items keep running if the chunk continues as new or is terminated. The next run of the chunk finds them.
 */
import { CancellationScope, condition, setCurrentDetails, setHandler, sleep } from '@temporalio/workflow';
import type { ChunkInput, ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import { chunkGrantSignal, fanoutBlockedSignal, fanoutThrottledSignal } from '../../../src/protocol/messages.js';
import { moveOn, mustMoveOn } from '../../shared/continue-as-new.js';
import { serviceFailureOf, toJobTermination } from '../../shared/job-termination.js';
import { ChunkState } from './chunk-state.js';
import { endItems, readItems, startItem } from './items.js';
import { reportToBatch } from './report-to-batch.js';

export async function fanoutChunk(input: ChunkInput): Promise<ChunkReport> {
  const chunk = new ChunkState(input);
  setHandler(chunkGrantSignal, (grant) => chunk.applyGrant(grant));
  setHandler(fanoutBlockedSignal, ({ index, message }) => chunk.block(index, message));
  setHandler(fanoutThrottledSignal, ({ untilMs }) => chunk.throttle(untilMs));
  CancellationScope.current().cancelRequested.catch(() => chunk.cut());
  return CancellationScope.nonCancellable(async () => {
    const timers = new CancellationScope();
    const cutAtDeadline = timers.run(async () => {
      await sleep(Math.max(1, input.deadlineAtMs - Date.now()), { summary: 'deadline of the batch' });
      chunk.cut();
    });
    cutAtDeadline.catch(() => undefined);
    await readItems(chunk).catch((error: unknown) => giveUp(chunk, error));
    const reporting = reportToBatch(chunk);
    while (!chunk.isOver) {
      if (mustContinueAsNew(chunk)) await handOver(chunk);
      for (let slot = chunk.next(Date.now()); slot; slot = chunk.next(Date.now())) startItem(chunk, slot);
      setCurrentDetails(chunk.details);
      const seen = chunk.changes;
      const hasNews = () => chunk.changes !== seen;
      const pauseMs = pauseLeftMs(chunk);
      if (pauseMs === undefined) await condition(hasNews);
      else await condition(hasNews, pauseMs, { summary: 'the service throttles forks' });
    }
    timers.cancel();
    return reporting;
  });
}

/**
 * Ends a chunk whose items no attempt can read. If it failed instead, the batch would start it again and again. Nobody
 * would watch the items that run, so they end too, with their forks.
 */
async function giveUp(chunk: ChunkState, error: unknown): Promise<void> {
  if (serviceFailureOf(error)?.meaning !== 'permanent') throw error;
  await endItems(chunk);
  chunk.unreadable = toJobTermination(error).jobError;
  chunk.noteChange('now');
}

/**
 * True if the chunk must continue as new because of its long history. The limit is twice as high until this run has
 * started or ended an item. Otherwise a run could end before it has done anything.
 */
function mustContinueAsNew({ input, hasMoved }: ChunkState): boolean {
  const { maxHistoryEvents } = input.pace;
  return mustMoveOn(maxHistoryEvents && (hasMoved ? 1 : 2) * maxHistoryEvents);
}

/** Continues as new. Returns only if the chunk has ended in the meantime. */
async function handOver(chunk: ChunkState): Promise<void> {
  chunk.isPausing = true;
  await condition(() => chunk.isQuiet);
  if (!chunk.isOver) await moveOn<(input: ChunkInput) => Promise<ChunkReport>>(chunk.carry());
}

/**
 * Remaining time of a pause, in ms, if items wait for its end. Otherwise undefined, because nothing changes until a
 * message arrives or an item ends.
 */
function pauseLeftMs(chunk: ChunkState): number | undefined {
  const { pausedUntilMs, window } = chunk.carried.grant;
  const holdsBack =
    pausedUntilMs !== null && chunk.waiting.length > 0 && chunk.running.length < window && !chunk.isEnding;
  return holdsBack && pausedUntilMs > Date.now() ? pausedUntilMs - Date.now() : undefined;
}
