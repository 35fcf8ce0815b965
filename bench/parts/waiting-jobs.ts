/**
 * Measures jobs whose sandbox never becomes ready: their safety polls, the worker's memory, and the cost of a replay.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jobWorkflowId, parseOwnedSandboxName } from '../../src/addresses/addresses.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { type SandboxEvent, sandboxEventSignal } from '../../src/protocol/messages.js';
import type { JobHandle } from '../../src/workflow-client/jobs/job-client.js';
import { defaultTiming, safetyPollMs } from '../../workflows/shared/wait-intervals.js';
import { callsBetween } from '../measure/book-reader.js';
import { deployment, inParallel, startPlainJob } from '../measure/plain-job.js';
import { median } from '../measure/quantiles.js';
import { createStand, type Stand, type Workshop } from '../stand.js';

export interface WaitingJobsOptions {
  readonly jobs: number;
  /** The number of workflows that the worker keeps in memory; less than `jobs`. */
  readonly cacheSize: number;
  /** The number of jobs that are woken in a round; less than `cacheSize`. */
  readonly wakes: number;
  /** The number of jobs whose polls are counted, and how long they are counted. */
  readonly polled: { readonly jobs: number; readonly windowSeconds: number };
}

export interface PollCount {
  readonly bridge: 'on' | 'off';
  readonly measuredCallsPerJob: number;
  /** The calls in the same time by the schedule of safety polls. */
  readonly expectedCallsPerJob: number;
}

export interface WaitingJobs {
  readonly polls: readonly PollCount[];
  /** By the schedule: the calls in the first hour of a wait, and in each later hour. */
  readonly callsPerJobAndHour: { readonly first: number; readonly later: number };
  readonly jobs: number;
  readonly cacheSize: number;
  readonly startedPerSecond: number;
  readonly workerMb: { readonly before: number; readonly waiting: number };
  readonly engineMb: number;
  /**
   * CPU milliseconds of the worker for a wake if the workflow is in memory, or if it is replayed. Medians of rounds.
   */
  readonly wakeCpuMs: { readonly cached: number; readonly replayed: number };
}

const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;
const rounds = 3;
/** With these times, no safety poll disturbs the measurement of wakes. */
const noPolls: Partial<JobTiming> = { safetyPollFirstMs: dayMs, safetyPollMaxMs: dayMs };

export async function measureWaitingJobs(workshop: Workshop, options: WaitingJobsOptions): Promise<WaitingJobs> {
  const { jobs, cacheSize, wakes } = options;
  const stand = await createStand(workshop, {
    name: 'waiting',
    timings: { bootMs: dayMs },
    maxCachedWorkflows: cacheSize,
  });
  try {
    const before = stand.residentMb('worker');
    const { perSecond: startedPerSecond } = await startWaiting(stand, jobs, noPolls);
    const waiting = stand.residentMb('worker');
    const engineMb = stand.residentMb('engine');
    const wakeCpuMs = await measureWakes(stand, wakes, jobs);
    const polls = [await countPolls(stand, 'on', options.polled)];
    await stand.bridge.stop();
    polls.push(await countPolls(stand, 'off', options.polled));
    const first = pollsWithin(hourMs);
    const later = pollsWithin(2 * hourMs) - first;
    return {
      polls,
      callsPerJobAndHour: { first, later },
      jobs,
      cacheSize,
      startedPerSecond,
      workerMb: { before, waiting },
      engineMb,
      wakeCpuMs,
    };
  } finally {
    await stand.close();
  }
}

/** Starts jobs and returns when each of them has created its sandbox. */
async function startWaiting(stand: Stand, count: number, timing: Partial<JobTiming>) {
  const goal = (await createsOf(stand)) + count;
  const beganMs = performance.now();
  const handles: JobHandle[] = [];
  await inParallel(count, 50, async () => void handles.push(await startPlainJob(stand, { timing })));
  await untilTrue(async () => (await createsOf(stand)) >= goal);
  return { handles, perSecond: (count / (performance.now() - beganMs)) * 1_000 };
}

async function createsOf(stand: Stand): Promise<number> {
  return (await stand.books.summary()).byEndpoint.createSandbox ?? 0;
}

/** Wakes jobs that are no longer in the cache, and then the same jobs again, which are in the cache by then. */
async function measureWakes(stand: Stand, wakes: number, jobs: number) {
  const { sandboxes } = await stand.books.all();
  const replayed: number[] = [];
  const cached: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Begin with the oldest jobs: the cache drops the workflows that were used longest ago.
    const some = sandboxes.slice(round * wakes, (round + 1) * wakes);
    if (some.length < wakes || (round + 1) * wakes > jobs) break;
    replayed.push(await cpuMsOfWakes(stand, some));
    cached.push(await cpuMsOfWakes(stand, some));
  }
  return { cached: median(cached), replayed: median(replayed) };
}

type Woken = { readonly id: string; readonly name: string };

/** Wakes jobs with an event that does not end their wait: each job reads its sandbox once and waits on. */
async function cpuMsOfWakes(stand: Stand, sandboxes: readonly Woken[]): Promise<number> {
  const reads = async () => (await stand.books.summary()).byEndpoint.getSandbox ?? 0;
  const goal = (await reads()) + sandboxes.length;
  const before = stand.cpu().worker;
  await inParallel(sandboxes.length, 10, async (index) => {
    const { id = '', name = '' } = sandboxes[index] ?? {};
    const jobId = parseOwnedSandboxName(name)?.jobId ?? '';
    const event: SandboxEvent = {
      id: `evt-${id}-${goal}`,
      type: 'sandbox.error',
      createdAt: new Date().toISOString(),
      sandboxId: id,
      sandboxName: name,
    };
    await stand.client.workflow.getHandle(jobWorkflowId(deployment, jobId)).signal(sandboxEventSignal, event);
  });
  await untilTrue(async () => (await reads()) >= goal);
  // The rest of the workflow task after the last read also belongs to the wake.
  await sleep(500);
  return ((stand.cpu().worker - before) / sandboxes.length) * 1_000;
}

async function countPolls(
  stand: Stand,
  bridge: 'on' | 'off',
  { jobs, windowSeconds }: WaitingJobsOptions['polled'],
): Promise<PollCount> {
  const before = await stand.books.summary();
  const { handles } = await startWaiting(stand, jobs, {});
  await sleep(windowSeconds * 1_000);
  const made = callsBetween(before, await stand.books.summary());
  // End these jobs, so that their polls do not affect the next count.
  for (const handle of handles) await handle.terminate('counted');
  return {
    bridge,
    measuredCallsPerJob: (made.total - (made.byEndpoint.createSandbox ?? 0)) / jobs,
    expectedCallsPerJob: pollsWithin(windowSeconds * 1_000),
  };
}

/** Safety polls in the first `ms` of a wait, by the product's own schedule. */
function pollsWithin(ms: number): number {
  let atMs = 0;
  for (let polls = 0; ; polls += 1) {
    atMs += safetyPollMs(defaultTiming, polls);
    if (atMs > ms) return polls;
  }
}

/** Calls `isSo` every 100 ms until it resolves to true. */
export async function untilTrue(isSo: () => Promise<boolean>, limitMs = 900_000): Promise<void> {
  const endMs = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > endMs) throw new Error('What the bench waits for did not happen in time.');
    await sleep(100);
  }
}
