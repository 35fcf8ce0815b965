/**
 * The bench measures in one run what a job costs, and prints each number beside its point of comparison. It uses only
 * the loopback interface, and every process that it starts ends with it. Compare the ratios within one run, since
 * machines differ and are busy.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { readConfig } from '../src/config.js';
import { findTemporalServer } from '../src/temporal-server/find.js';
import { unencryptedBundle } from '../src/worker/index.js';
import { type BenchOptions, readOptions, usage } from './options.js';
import { type ConcurrentJobs, measureConcurrentJobs } from './parts/concurrent-jobs.js';
import { type DownloadCost, measureDownloads } from './parts/downloads.js';
import { type FanoutCost, measureFanouts } from './parts/fanout.js';
import { type FollowedPrompts, measureFollowedPrompts } from './parts/followed-prompts.js';
import { measureLocalService, type ServiceLoad } from './parts/local-service.js';
import { type MachineCost, measureMachines } from './parts/machines.js';
import { measureRunningPrompts, type RunningPrompts } from './parts/running-prompts.js';
import { measureWaitingJobs, type WaitingJobs } from './parts/waiting-jobs.js';
import {
  describeDownloads,
  describeFanouts,
  describeFollowed,
  describeJobs,
  describeMachines,
  describeRunning,
  describeService,
  describeWaiting,
} from './report.js';
import type { Workshop } from './stand.js';

interface Results {
  readonly at: string;
  readonly machine: { readonly cpus: number; readonly model: string; readonly loadBefore: number; loadAfter: number };
  readonly options: BenchOptions;
  readonly jobs: ConcurrentJobs[];
  waiting: WaitingJobs | null;
  running: readonly RunningPrompts[];
  followed: FollowedPrompts | null;
  service: readonly ServiceLoad[];
  machines: readonly MachineCost[];
  downloads: readonly DownloadCost[];
  fanouts: readonly FanoutCost[];
}

const say = (line: string) => void process.stderr.write(`${line}\n`);
const print = (text: string) => void process.stdout.write(`${text}\n\n`);

async function makeWorkshop(directory: string, signal: AbortSignal): Promise<Workshop> {
  const temporalBinary = await findTemporalServer({
    cacheDirectory: readConfig().cacheDirectory,
    onProgress: say,
    signal,
  });
  const bundle = async (name: string, workflows: string) => {
    const workflowsPath = fileURLToPath(new URL(workflows, import.meta.url));
    const { code } = await bundleWorkflowCode({
      ...unencryptedBundle,
      workflowsPath,
      logger: new DefaultLogger('WARN'),
    });
    const path = join(directory, name);
    await writeFile(path, code);
    return path;
  };
  return {
    directory,
    signal,
    temporalBinary,
    jobBundlePath: await bundle('job-workflows.js', '../workflows/index.js'),
    bareBundlePath: await bundle('bare-workflow.js', './bare/workflow.js'),
  };
}

/** The number of rounds, chosen so that each number of jobs is measured for about the same time. */
function roundsOf(jobs: number, quick: boolean): number {
  if (jobs === 1) return quick ? 5 : 20;
  return quick || jobs > 200 ? 2 : 3;
}

async function measure(workshop: Workshop, options: BenchOptions, results: Results): Promise<void> {
  const { quick } = options;
  if (options.parts.includes('jobs')) {
    const cases = [
      ...options.jobs.map((jobs) => ({ jobs, inFile: false })),
      { jobs: options.jobs[0] ?? 1, inFile: true },
    ];
    for (const { jobs, inFile } of cases) {
      say(`${jobs} jobs at once, Temporal in ${inFile ? 'a file' : 'memory'} …`);
      const rounds = roundsOf(jobs, quick || inFile);
      results.jobs.push(await measureConcurrentJobs(workshop, { jobs, rounds, inFile }));
    }
    print(describeJobs(results.jobs));
  }
  if (options.parts.includes('waiting')) {
    say(`${options.waiting} jobs waiting …`);
    results.waiting = await measureWaitingJobs(workshop, {
      jobs: options.waiting,
      cacheSize: options.cacheSize,
      wakes: Math.floor(options.cacheSize / 4),
      polled: { jobs: quick ? 20 : 100, windowSeconds: quick ? 18 : 40 },
    });
    print(describeWaiting(results.waiting));
  }
  if (options.parts.includes('running')) {
    say(`${options.prompts.join(', ')} prompts running …`);
    const windowSeconds = quick ? 10 : 30;
    const youngFollowMs = options.young && options.young * 1_000;
    results.running = await measureRunningPrompts(workshop, { counts: options.prompts, windowSeconds, youngFollowMs });
    print(describeRunning(results.running));
  }
  if (options.parts.includes('followed')) {
    say(`${options.followed} prompts handed over to the follower …`);
    const rates = quick ? { startsPerSecond: 2, windowSeconds: 30 } : { startsPerSecond: 8, windowSeconds: 60 };
    results.followed = await measureFollowedPrompts(workshop, { prompts: options.followed, ...rates });
    print(describeFollowed(results.followed));
  }
  if (options.parts.includes('service')) {
    say(`${options.sandboxes.join(', ')} sandboxes on the books of the local service …`);
    const calls = quick ? 500 : 3_000;
    results.service = await measureLocalService(workshop, { counts: options.sandboxes, calls });
    print(describeService(results.service));
  }
  if (options.parts.includes('machines')) {
    const sandboxes = options.machines;
    say(`${sandboxes} machines of sandboxes …`);
    results.machines = await measureMachines(workshop, [
      { sandboxes, atOnce: 1 },
      { sandboxes, atOnce: sandboxes },
    ]);
    print(describeMachines(results.machines));
  }
  if (options.parts.includes('downloads')) {
    const sizeMb = quick ? 256 : 1_024;
    say(`Downloads of ${sizeMb} MiB …`);
    results.downloads = await measureDownloads(workshop, { sizeMb });
    print(describeDownloads(results.downloads));
  }
  if (options.parts.includes('fanout')) {
    say(`Batches of ${options.items.join(', ')} items …`);
    results.fanouts = await measureFanouts(workshop, { counts: options.items });
    print(describeFanouts(results.fanouts));
  }
}

async function run(options: BenchOptions): Promise<void> {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-bench-'));
  const [cpu] = cpus();
  const [loadBefore = 0] = loadavg();
  const results: Results = {
    at: new Date().toISOString(),
    machine: { cpus: cpus().length, model: cpu?.model ?? 'unknown', loadBefore, loadAfter: 0 },
    options,
    jobs: [],
    waiting: null,
    running: [],
    followed: null,
    service: [],
    machines: [],
    downloads: [],
    fanouts: [],
  };
  try {
    await measure(await makeWorkshop(directory, interrupted.signal), options, results);
    results.machine.loadAfter = loadavg()[0] ?? 0;
  } catch (error) {
    if (interrupted.signal.aborted) {
      process.exitCode = 130;
      return;
    }
    say(`The logs of its processes are kept in ${directory}.`);
    throw error;
  } finally {
    if (interrupted.signal.aborted) await rm(directory, { recursive: true, force: true });
    // After a failure, keep the results so far.
    await writeFile(options.outFile, `${JSON.stringify(results, null, 2)}\n`);
    say(`The numbers are in ${options.outFile}.`);
  }
  await rm(directory, { recursive: true, force: true });
}

const options = (() => {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
})();
if (options === undefined) process.exitCode = 2;
else if (options === 'help') print(usage);
else await run(options);
