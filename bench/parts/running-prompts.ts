/** Measures what running prompts cost: calls, which must not grow with the number of prompts, CPU and memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { callsBetween } from '../measure/book-reader.js';
import { inParallel, startPlainJob } from '../measure/plain-job.js';
import { createStand, type Workshop } from '../stand.js';
import { untilTrue } from './waiting-jobs.js';

export interface RunningPrompts {
  readonly prompts: number;
  /** Measured just after the last prompt was sent, when the interval between calls is shortest. */
  readonly callsPerMinute: number;
  readonly workerCpuPercent: number;
  readonly engineCpuPercent: number;
  readonly workerMb: number;
}

export interface RunningOptions {
  /** Numbers of prompts, in ascending order: for each, jobs are added to the running ones. */
  readonly counts: readonly number[];
  readonly windowSeconds: number;
  /** How long a prompt is followed by an activity of its own. Default: that of the product. */
  readonly youngFollowMs?: number;
}

/** In this time prompts that are handed over at once have reached the follower. */
const settleMs = 15_000;

export async function measureRunningPrompts(
  workshop: Workshop,
  { counts, windowSeconds, youngFollowMs }: RunningOptions,
): Promise<RunningPrompts[]> {
  const stand = await createStand(workshop, {
    name: 'running',
    answering: { bootMs: 100, promptMs: 24 * 3_600_000, archiveMs: 50, answerMs: 0 },
    youngFollowMs,
  });
  const measured: RunningPrompts[] = [];
  try {
    let running = 0;
    for (const count of counts) {
      await inParallel(count - running, 50, async () => void (await startPlainJob(stand, {})));
      running = count;
      await untilTrue(async () => ((await stand.books.summary()).byEndpoint.sendPrompt ?? 0) >= count, 3_600_000);
      await sleep(settleMs);
      const calls = await stand.books.summary();
      const cpu = stand.cpu();
      const beganMs = performance.now();
      await sleep(windowSeconds * 1_000);
      const seconds = (performance.now() - beganMs) / 1_000;
      const after = stand.cpu();
      measured.push({
        prompts: count,
        callsPerMinute: (callsBetween(calls, await stand.books.summary()).total / seconds) * 60,
        workerCpuPercent: ((after.worker - cpu.worker) / seconds) * 100,
        engineCpuPercent: ((after.engine - cpu.engine) / seconds) * 100,
        workerMb: stand.residentMb('worker'),
      });
    }
    return measured;
  } finally {
    await stand.close();
  }
}
