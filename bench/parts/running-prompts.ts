/** Measures how many calls it takes to follow running prompts. The calls must not grow with the number of prompts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { callsBetween } from '../measure/book-reader.js';
import { inParallel, shellPrompt, startPlainJob } from '../measure/plain-job.js';
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

const settleMs = 3_000;

/** @param counts numbers of prompts, in ascending order: for each, jobs are added to the running ones */
export async function measureRunningPrompts(
  workshop: Workshop,
  { counts, windowSeconds }: { readonly counts: readonly number[]; readonly windowSeconds: number },
): Promise<RunningPrompts[]> {
  const stand = await createStand(workshop, { name: 'running', timings: { bootMs: 100, archiveMs: 50 } });
  const prompts = [{ prompt: shellPrompt('exec sleep 1800') }];
  const measured: RunningPrompts[] = [];
  try {
    let running = 0;
    for (const count of counts) {
      await inParallel(count - running, 50, async () => void (await startPlainJob(stand, { prompts })));
      running = count;
      await untilTrue(async () => ((await stand.books.summary()).byEndpoint.sendPrompt ?? 0) >= count);
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
