/** Measures what a job costs each peer. The peers take turns, so that other load on the machine affects all of them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../measure/plain-job.js';
import { cpuSeconds } from '../measure/process-usage.js';
import { median, quantile } from '../measure/quantiles.js';
import { type Hop, hopsOf, type JobHistory, sizeOf } from './job-history.js';
import type { PeerOptions } from './options.js';
import { batchAtOnce, type Listeners, type Peer, type RunningPeer, type Workshop } from './peer.js';
import { createPlainApi, isUsable, type PlainSandbox } from './plain/api.js';
import { type Books, type SandboxBook, sourceName } from './service/books.js';
import { type BenchService, startService } from './service-control.js';

/** One phase of one round of one peer. */
export interface Sample {
  readonly peer: string;
  /** `alone`, `5 a second`, `100 at once`, `batch of 200`. */
  readonly phase: string;
  readonly wakeP50Ms: number;
  readonly wakeP95Ms: number;
  /** Median over the jobs: their time beyond the delays of the service. Null for a batch. */
  readonly overMs: number | null;
  readonly perSecond: number;
  readonly callsPerJob: number;
  readonly engineCpuMs: number;
  readonly appCpuMs: number;
  readonly serviceCpuMs: number;
  readonly history: JobHistory | undefined;
  /** Where the time of a job goes. */
  readonly hops: readonly Hop[] | undefined;
  /** Of all workflows of a batch, for each item. */
  readonly eventsPerItem: number | undefined;
}

interface Phase {
  readonly name: string;
  readonly isBatch?: boolean;
  readonly jobs: number;
  readonly atOnce: number;
  /** Between the starts of two jobs. Default: 0. */
  readonly everyMs?: number;
}

/** Jobs before the first measurement, so that code is compiled and connections are open. */
const warmUpJobs = 20;
const rateSeconds = 5;

export async function measureCost(
  workshop: Workshop,
  options: PeerOptions,
  { onProgress, onResult }: Listeners<Sample>,
): Promise<void> {
  for (let round = 1; round <= options.rounds; round += 1) {
    // Each round begins with another peer.
    const { peers } = options;
    const turns = peers.map((_, at) => peers[(at + round - 1) % peers.length]).filter((peer) => peer !== undefined);
    for (const peer of turns) {
      onProgress(`Round ${round} of ${options.rounds}: ${peer.name} …`);
      await measureRound(workshop, options, { peer, round, onResult });
    }
  }
}

async function measureRound(
  workshop: Workshop,
  options: PeerOptions,
  one: Pick<Listeners<Sample>, 'onResult'> & { readonly peer: Peer; readonly round: number },
): Promise<void> {
  const { peer, round, onResult } = one;
  const directory = join(workshop.directory, `${peer.name}-${round}`);
  await mkdir(directory, { recursive: true });
  const service = await startService(directory, options.delays);
  try {
    const { inFile } = options;
    const running = await peer.start({ workshop, directory, serviceUrl: service.url, apiKey: peer.name, inFile });
    try {
      await inParallel(warmUpJobs, warmUpJobs, (index) => running.runJob(`warm-up-${index}`));
      for (const phase of phasesOf(options)) {
        onResult(await measurePhase({ peer, running, service, phase, delays: options.delays }));
      }
    } finally {
      await running.close();
    }
  } finally {
    await service.close();
  }
}

function phasesOf({ alone, rate, jobs, items }: PeerOptions): Phase[] {
  return [
    { name: 'alone', jobs: alone, atOnce: 1 },
    { name: `${rate} a second`, jobs: rate * rateSeconds, atOnce: rate * rateSeconds, everyMs: 1_000 / rate },
    ...jobs.map((count) => ({ name: `${count} at once`, jobs: count, atOnce: count })),
    { name: `batch of ${items}`, jobs: items, atOnce: batchAtOnce, isBatch: true },
  ].filter((phase) => phase.jobs > 0);
}

async function measurePhase(one: {
  readonly peer: Peer;
  readonly running: RunningPeer;
  readonly service: BenchService;
  readonly phase: Phase;
  readonly delays: PeerOptions['delays'];
}): Promise<Sample> {
  const { peer, running, service, phase, delays } = one;
  const { jobs, atOnce, everyMs = 0 } = phase;
  const nameOf = (index: number) => `${phase.name.replaceAll(' ', '-')}-${index}`;
  const leastMs = delays.bootMs + delays.promptMs + delays.archiveMs;
  const overMs: number[] = [];
  const sourceId = phase.isBatch ? await makeSource(service.url) : undefined;
  await service.forget();
  const before = cpuOf(running, service);
  const began = new Date();
  const beganMs = performance.now();
  if (sourceId !== undefined) await running.runBatch(jobs, sourceId);
  else
    await inParallel(jobs, atOnce, async (index) => {
      if (everyMs > 0) await sleep(index * everyMs);
      const startedMs = performance.now();
      await running.runJob(nameOf(index));
      overMs.push(performance.now() - startedMs - leastMs);
    });
  const seconds = (performance.now() - beganMs) / 1_000;
  const after = cpuOf(running, service);
  const events = phase.isBatch ? await running.eventsSince?.(began) : undefined;
  const books = await service.books();
  requireEachOnce(books, { peer, jobs });
  const wakes = wakesOf(books);
  const names = Array.from({ length: jobs }, (_, index) => nameOf(index));
  const histories = phase.isBatch ? undefined : await running.histories?.(names);
  const calls = Object.values(books.calls[peer.name] ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    peer: peer.name,
    phase: phase.name,
    wakeP50Ms: median(wakes),
    wakeP95Ms: quantile(wakes, 0.95),
    overMs: phase.isBatch ? null : median(overMs),
    perSecond: jobs / seconds,
    callsPerJob: calls / jobs,
    engineCpuMs: ((after.engine - before.engine) * 1_000) / jobs,
    appCpuMs: ((after.app - before.app) * 1_000) / jobs,
    serviceCpuMs: ((after.service - before.service) * 1_000) / jobs,
    eventsPerItem: events && events / jobs,
    history: histories && sizeOf(histories),
    hops: histories && hopsOf(histories.map((events, at) => ({ events, book: bookOf(books, nameOf(at)) }))),
  };
}

function cpuOf(running: RunningPeer, service: BenchService) {
  const pid = running.enginePid();
  const app = running.app().reduce((sum, child) => sum + child.cpuSeconds(), 0);
  return { engine: pid === undefined ? 0 : cpuSeconds(pid), app, service: service.cpuSeconds() };
}

/** From sending the ready webhook to receiving the prompt. */
function wakesOf({ sandboxes }: Books): number[] {
  return sandboxes.flatMap(({ readySentAtMs, promptsAtMs: [promptAtMs] }) =>
    readySentAtMs === null || promptAtMs === undefined ? [] : [promptAtMs - readySentAtMs],
  );
}

/** The name of a job occurs in the name of its sandbox, and may be the beginning of the name of another job. */
function bookOf({ sandboxes }: Books, job: string): SandboxBook {
  const own = sandboxes.find(({ name }) => new RegExp(`${job}(?![0-9])`).test(name));
  if (own === undefined) throw new Error(`There is no sandbox of the job ${job}.`);
  return own;
}

/** Forks restore what an archived sandbox has saved. */
async function makeSource(serviceUrl: string): Promise<string> {
  const api = createPlainApi({ serviceUrl, apiKey: 'bench-setup' });
  const { id } = await api.create(sourceName);
  const until = async (isDone: (sandbox: PlainSandbox) => boolean) => {
    while (!isDone(await api.get(id))) await sleep(50);
  };
  await until(isUsable);
  await api.stop(id);
  await until(({ state }) => state === 'archived');
  await api.close();
  return id;
}

/** Numbers of work that was not done are worth nothing. */
function requireEachOnce(books: Books, { peer, jobs }: { readonly peer: Peer; readonly jobs: number }): void {
  const sandboxes = books.sandboxes.filter(({ name }) => name !== sourceName);
  const wrong = sandboxes.filter(({ state, promptsAtMs }) => state !== 'archived' || promptsAtMs.length !== 1);
  if (sandboxes.length !== jobs || wrong.length > 0) {
    const found = `${sandboxes.length} sandboxes, of which these are wrong: ${JSON.stringify(wrong.slice(0, 5))}`;
    throw new Error(`${peer.name} did not do each of ${jobs} jobs once: there are ${found}`);
  }
}
