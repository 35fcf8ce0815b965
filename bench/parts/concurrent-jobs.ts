/**
 * Measures simultaneous jobs: API calls, wake latency, history, throughput and CPU, each with its point of comparison.
 */
import type { JobHandle } from '../../src/workflow-client/jobs/job-client.js';
import { type BareRun, runBareJob } from '../measure/bare-job.js';
import { type CallCounts, callsBetween } from '../measure/book-reader.js';
import { type HistorySize, historySize } from '../measure/history.js';
import { inParallel, runPlainJob, shellPrompt } from '../measure/plain-job.js';
import { runPollingScript } from '../measure/polling-script.js';
import { median, quantile } from '../measure/quantiles.js';
import { type WakeStages, wakeStages } from '../measure/wake-stages.js';
import { wakeLags } from '../measure/wakes.js';
import { createStand, type Part, type Stand, type Workshop } from '../stand.js';

/** How long the service takes for each step, in ms. The times are shorter than real ones, to keep the bench short. */
export const stepsMs = { boot: 1_000, prompt: 1_000, archive: 500 };

export interface ConcurrentJobsOptions {
  readonly jobs: number;
  /** How often all jobs are run, one round after the other. */
  readonly rounds: number;
  readonly inFile: boolean;
}

export interface Lag {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** One round, in which all workflows run at once. */
export interface Round {
  readonly perSecond: number;
  /** The CPU seconds of each process for each workflow. */
  readonly cpuSecondsEach: Readonly<Record<Part, number>>;
}

export interface ConcurrentJobs {
  readonly jobs: number;
  readonly temporal: 'memory' | 'file';
  readonly callsPerJob: number;
  readonly callsPerJobByEndpoint: CallCounts;
  readonly callsPerScriptedJob: number;
  readonly wake: { readonly ready: Lag; readonly archived: Lag; readonly floor: Lag; readonly readyToFloor: number };
  /** The stages of the wake by the ready webhook. */
  readonly stages: WakeStages;
  readonly history: { readonly job: HistorySize; readonly bare: HistorySize };
  readonly jobRounds: readonly Round[];
  readonly bareRounds: readonly Round[];
}

const prompt = shellPrompt(`sleep ${stepsMs.prompt / 1_000}`);
const prompts = [{ prompt }];

export async function measureConcurrentJobs(
  workshop: Workshop,
  { jobs, rounds, inFile }: ConcurrentJobsOptions,
): Promise<ConcurrentJobs> {
  const timings = { bootMs: stepsMs.boot, archiveMs: stepsMs.archive };
  const stand = await createStand(workshop, { name: `jobs-${jobs}${inFile ? '-file' : ''}`, timings, inFile });
  try {
    const warmUp = await runPlainJob(stand, { prompts });
    const bareInput = bareInputFor((await historySize([warmUp])).workflowTasks);
    await runBareJob(stand, bareInput);

    const handles: JobHandle[] = [];
    const bareRuns: BareRun[] = [];
    const jobRounds: Round[] = [];
    const bareRounds: Round[] = [];
    let calls = 0;
    const byEndpoint: Record<string, number> = {};
    // Jobs and bare workflows alternate, so that other load on the machine affects both.
    for (let round = 0; round < rounds; round += 1) {
      const before = await stand.books.summary();
      const job = await timed(stand, jobs, async () => void handles.push(await runPlainJob(stand, { prompts })));
      jobRounds.push(job);
      const made = callsBetween(before, await stand.books.summary());
      calls += made.total;
      for (const [endpoint, count] of Object.entries(made.byEndpoint)) {
        byEndpoint[endpoint] = (byEndpoint[endpoint] ?? 0) + count / (jobs * rounds);
      }
      bareRounds.push(await timed(stand, jobs, async () => void bareRuns.push(await runBareJob(stand, bareInput))));
    }

    const pages = await stand.books.all();
    const lags = wakeLags(pages, new Set(pages.sandboxes.map(({ id }) => id)));
    const floor = lagOf(bareRuns.map(({ lagMs }) => lagMs));
    const ready = lagOf(lags.readyMs);
    return {
      jobs,
      temporal: inFile ? 'file' : 'memory',
      callsPerJob: calls / (jobs * rounds),
      callsPerJobByEndpoint: byEndpoint,
      callsPerScriptedJob: await callsOfScripts(stand, jobs),
      wake: { ready, archived: lagOf(lags.archivedMs), floor, readyToFloor: ready.p50Ms / floor.p50Ms },
      stages: await wakeStages(handles, pages),
      history: { job: await historySize(handles), bare: await historySize(bareRuns.map(({ handle }) => handle)) },
      jobRounds,
      bareRounds,
    };
  } finally {
    await stand.close();
  }
}

/**
 * The input for the same number of workflow tasks: one to begin, one for each activity, and one for each of two
 * signals.
 */
function bareInputFor(workflowTasks: number) {
  const pausesMs = [stepsMs.boot, stepsMs.prompt + stepsMs.archive] as const;
  return { activities: Math.max(2, workflowTasks - 3), pausesMs };
}

async function timed(stand: Stand, count: number, run: () => Promise<void>): Promise<Round> {
  const before = stand.cpu();
  const beganMs = performance.now();
  await inParallel(count, count, run);
  const seconds = (performance.now() - beganMs) / 1_000;
  const after = stand.cpu();
  const each = (part: Part) => (after[part] - before[part]) / count;
  const cpuSecondsEach = {
    engine: each('engine'),
    worker: each('worker'),
    bridge: each('bridge'),
    service: each('service'),
    bareWorker: each('bareWorker'),
  };
  return { perSecond: count / seconds, cpuSecondsEach };
}

function lagOf(samples: readonly number[]): Lag {
  return { p50Ms: median(samples), p95Ms: quantile(samples, 0.95) };
}

async function callsOfScripts(stand: Stand, count: number): Promise<number> {
  const before = await stand.books.summary();
  await inParallel(count, count, () => runPollingScript(stand.api, prompt));
  return callsBetween(before, await stand.books.summary()).total / count;
}
