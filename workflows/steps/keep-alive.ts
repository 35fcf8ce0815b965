/** What a job does by the clock: renews its lease and the auto-stop of its sandbox, and ends at its deadline. */
import { condition, isCancellation, sleep } from '@temporalio/workflow';
import { effects, reads } from '../proxies.js';
import type { JobRun } from './job-run.js';
import { renewRegistrationEveryMs, watchSandbox } from './watching.js';

/** Renews what expires while the job works, and returns at the deadline. */
export async function keepAlive(run: JobRun): Promise<void> {
  // A run that goes on from an earlier one does not know when that one has renewed it.
  if (run.watched) await renewLease(run);
  for (;;) {
    if (!Number.isFinite(run.deadlineAtMs)) await condition(() => Number.isFinite(run.deadlineAtMs));
    const { deadlineAtMs } = run;
    const leftMs = deadlineAtMs - Date.now();
    if (leftMs <= 0) return;
    const renewInMs = run.watched ? renewRegistrationEveryMs : Number.POSITIVE_INFINITY;
    const everyMs = Math.min(renewInMs, (run.input.ttlSeconds * 1_000) / 2);
    await sleep(Math.min(leftMs, everyMs), { summary: 'deadline, or renewal of auto-stop' });
    // An item whose fork became `cancelled` has the deadline of its next one.
    if (deadlineAtMs !== run.deadlineAtMs) continue;
    if (leftMs <= everyMs) return;
    // Each for itself: a refusal of one is no reason to leave out the other.
    if (run.watched) await renewLease(run);
    await withoutEnding(() => renewTtl(run));
  }
}

async function renewLease(run: JobRun): Promise<void> {
  const { sandbox } = run;
  if (sandbox) await withoutEnding(() => watchSandbox(run, sandbox.id));
}

/** The next renewal is not far, so one that fails ends nothing. */
async function withoutEnding(renew: () => Promise<void>): Promise<void> {
  try {
    await renew();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/** Keeps the sandbox from stopping by itself. A sandbox of somebody else keeps the auto-stop that it has at this moment. */
async function renewTtl(run: JobRun): Promise<void> {
  const { sandbox, input } = run;
  if (!sandbox) return;
  const ttlSeconds = input.source.kind === 'existing' ? await ttlNow(run, sandbox.id) : input.ttlSeconds;
  if (ttlSeconds === null) return;
  const options = { scheduleToCloseTimeout: '1 minute', summary: 'renew auto-stop' } as const;
  const { calls } = await effects.updateSandbox.executeWithOptions(options, [sandbox.id, { ttlSeconds }]);
  run.apiCalls += calls;
}

async function ttlNow(run: JobRun, sandboxId: string): Promise<number | null> {
  const { value, calls } = await reads.getSandbox(sandboxId);
  run.apiCalls += calls;
  return value?.ttlSeconds ?? null;
}
