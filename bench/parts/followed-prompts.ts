/**
 * Measures the follower of prompts: how many lists it reads with some workers, and how soon ends are seen when its worker
 * is killed or drains. The service only answers, so that thousands of prompts fit on the machine.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { promptFollowerId } from '../../src/addresses/addresses.js';
import { ensureWebhook, webhookPath } from '../../src/bridge/index.js';
import { createSandboxClient } from '../../src/client/index.js';
import { freePort } from '../../src/os/free-port.js';
import { leftRunningSignal } from '../../src/protocol/messages.js';
import { type JobHandle, startJob } from '../../src/workflow-client/jobs/job-client.js';
import { inParallel, jobInput } from '../measure/plain-job.js';
import { median } from '../measure/quantiles.js';
import { createClosing } from '../peers/peer.js';
import { startService } from '../peers/service-control.js';
import { startEngine } from '../peers/systems/temporal-engine.js';
import { type Child, startChild } from '../processes/child.js';
import type { Workshop } from '../stand.js';
import { untilTrue } from './waiting-jobs.js';

export interface FollowedPrompts {
  readonly prompts: number;
  readonly completed: number;
  readonly promptsSent: number;
  readonly lists: readonly {
    readonly workers: number;
    readonly perMinute: number;
    /** All other calls to the service. */
    readonly othersPerMinute: number;
  }[];
  readonly ends: readonly WorkerEnd[];
}

/** What happened when the worker with the follower's round ended. */
export interface WorkerEnd {
  readonly how: 'killed' | 'drained';
  /** The number of prompts that ended from then on, until another worker ended. */
  readonly prompts: number;
  /** From the end of such a prompt at the service to the signal in the history of its job. */
  readonly toldS: { readonly p50: number; readonly most: number };
  /** From the end of the worker, or the beginning of its drain, to the start of the next round. */
  readonly nextRoundS: number;
}

const apiKey = 'bench-key';
const taskQueue = 'bench';
/** Prompts are handed over almost at once, and read often: so a short time shows how often. */
const follow = { youngFollowMs: 1, maxIntervalMs: 2_000 };
/** From this age on, a prompt is read as rarely as ever, in ms. */
const oldMs = 45_000;
const workerCounts = [1, 4, 8];
/** The prompts last until the calls are counted, for each of which some time passes until the workers run. */
const slackMs = 40_000;

/**
 * @param startsPerSecond the ends of the prompts are spread as their starts
 * @param windowSeconds how long calls are counted, for each number of workers
 */
export async function measureFollowedPrompts(
  workshop: Workshop,
  { prompts, startsPerSecond, windowSeconds }: FollowedOptions,
): Promise<FollowedPrompts> {
  const promptMs =
    (prompts / startsPerSecond) * 1_000 + oldMs + workerCounts.length * (windowSeconds * 1_000 + slackMs);
  const stand = await createStand(workshop, promptMs);
  try {
    await stand.addWorker();
    const handles = await startJobs(stand, prompts, startsPerSecond);
    const endsAtMs = new Map((await promptsOf(stand)).map(({ name, atMs }) => [name, atMs + promptMs]));
    const sorted = [...endsAtMs.values()].sort((a, b) => a - b);
    await sleep(oldMs);
    const lists = await countLists(stand, windowSeconds);
    await sleep(Math.max(0, (sorted[0] ?? 0) - Date.now()));
    const killed = await endWorker(stand, 'killed');
    await sleep(Math.max(0, (sorted[Math.floor(prompts / 2)] ?? 0) - Date.now()));
    const drained = await endWorker(stand, 'drained');
    const results = await Promise.all(handles.map((handle) => handle.result()));
    const told: { readonly endMs: number; readonly afterMs: number }[] = [];
    await inParallel(prompts, 10, async (index) => {
      const toldMs = await toldAt(stand.client, handles[index]?.workflowId ?? '');
      const endMs = endsAtMs.get(results[index]?.sandboxName ?? '');
      if (toldMs !== undefined && endMs !== undefined) told.push({ endMs, afterMs: toldMs - endMs });
    });
    const ends = [killed, drained].map(({ how, nextRoundS }) => {
      const isThen = ({ endMs }: { readonly endMs: number }) => endMs >= drained.atMs === (how === 'drained');
      const seconds = told.filter(isThen).map(({ afterMs }) => afterMs / 1_000);
      return { how, prompts: seconds.length, toldS: { p50: median(seconds), most: Math.max(...seconds) }, nextRoundS };
    });
    const completed = results.filter(({ outcome }) => outcome === 'completed').length;
    return { prompts, completed, promptsSent: (await promptsOf(stand)).length, lists, ends };
  } finally {
    await stand.close();
  }
}

export interface FollowedOptions {
  readonly prompts: number;
  readonly startsPerSecond: number;
  readonly windowSeconds: number;
}

async function createStand({ directory: parent, temporalBinary, jobBundlePath, signal }: Workshop, promptMs: number) {
  const directory = join(parent, 'followed');
  await mkdir(directory, { recursive: true });
  const closing = createClosing();
  signal.addEventListener('abort', () => void closing.close(), { once: true });
  const service = await startService(directory, { bootMs: 100, promptMs, archiveMs: 100, answerMs: 0 });
  closing.add(service.close);
  const bundlePaths = { sandflow: jobBundlePath, encrypted: '', plain: '' };
  const engine = await startEngine({
    workshop: { directory, temporalBinary, bundlePaths },
    ...{ directory, serviceUrl: service.url, apiKey, inFile: false },
  });
  closing.add(engine.close);
  const temporalAddress = engine.address;
  const port = await freePort();
  const secretFile = join(directory, 'secrets');
  const api = createSandboxClient({ baseUrl: service.url, apiKey: 'bench-setup' });
  await ensureWebhook(api, { url: `http://127.0.0.1:${port}${webhookPath}`, name: 'bench', secretFile });
  await api.close();
  const start = async (name: string, settings: object) => {
    const entry = new URL(`../processes/${name}.js`, import.meta.url);
    const child = await startChild(entry, { settings, logFile: join(directory, `${name}.log`) });
    closing.add(child.stop);
    return child;
  };
  await start('bridge', { temporalAddress, port, secretFile });
  const workers: Child[] = [];
  return {
    client: engine.client,
    service,
    workers,
    async addWorker() {
      const resultsDirectory = join(directory, 'results');
      const settings = { temporalAddress, serviceUrl: service.url, apiKey, taskQueue, resultsDirectory, follow };
      workers.push(await start('worker', { ...settings, bundlePath: jobBundlePath }));
    },
    close: closing.close,
  };
}
type FollowedStand = Awaited<ReturnType<typeof createStand>>;

const calls = async ({ service }: FollowedStand) => (await service.books()).calls[apiKey] ?? {};

/** Starts jobs at a steady rate, and returns when all have sent their prompts. */
async function startJobs(stand: FollowedStand, count: number, startsPerSecond: number): Promise<readonly JobHandle[]> {
  const handles: JobHandle[] = [];
  const beganMs = Date.now();
  await inParallel(count, 20, async (index) => {
    await sleep(Math.max(0, beganMs + (index / startsPerSecond) * 1_000 - Date.now()));
    const { handle } = await startJob(stand.client, jobInput({ prompts: [{ prompt: 'Work.' }] }), { taskQueue });
    handles.push(handle);
  });
  await untilTrue(async () => ((await calls(stand)).sendPrompt ?? 0) >= count);
  return handles;
}

async function countLists(stand: FollowedStand, windowSeconds: number): Promise<FollowedPrompts['lists']> {
  const counted: FollowedPrompts['lists'][number][] = [];
  for (const workers of workerCounts) {
    while (stand.workers.length < workers) await stand.addWorker();
    await sleep(5_000);
    const before = await calls(stand);
    const beganMs = performance.now();
    await sleep(windowSeconds * 1_000);
    const minutes = (performance.now() - beganMs) / 60_000;
    const made = Object.entries(await calls(stand)).map(
      ([name, count]) => [name, (count - (before[name] ?? 0)) / minutes] as const,
    );
    const { listSandboxes: perMinute = 0, ...others } = Object.fromEntries(made);
    counted.push({ workers, perMinute, othersPerMinute: Object.values(others).reduce((sum, one) => sum + one, 0) });
  }
  return counted;
}

const promptsOf = async ({ service }: FollowedStand) =>
  (await service.books()).sandboxes.flatMap(({ name, promptsAtMs }) => promptsAtMs.map((atMs) => ({ name, atMs })));

/** The round of the follower: the process that makes it, and when that began, in ms since the epoch; 0 if it has not. */
async function roundOf(client: Client): Promise<{ readonly pid: number; readonly startedAtMs: number }> {
  const { raw } = await client.workflow.getHandle(promptFollowerId(taskQueue)).describe();
  const [round] = raw.pendingActivities ?? [];
  const pid = Number(round?.lastWorkerIdentity?.split('@')[0]);
  return { pid, startedAtMs: round?.lastStartedTime ? tsToMs(round.lastStartedTime) : 0 };
}

/** When the follower told a job that its prompt may have ended, in ms since the epoch; undefined if it did not. */
async function toldAt(client: Client, workflowId: string): Promise<number | undefined> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const told = events?.find(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName === leftRunningSignal.name,
  );
  return told?.eventTime ? tsToMs(told.eventTime) : undefined;
}

/** Ends the worker that makes the follower's round. */
async function endWorker({ client, workers }: FollowedStand, how: WorkerEnd['how']) {
  let worker: Child | undefined;
  await untilTrue(async () => {
    const { pid } = await roundOf(client);
    worker = workers.find((one) => one.pid === pid);
    return worker !== undefined;
  });
  const atMs = Date.now();
  const ended = how === 'killed' ? worker?.kill() : worker?.stop();
  let startedAtMs = 0;
  await untilTrue(async () => {
    ({ startedAtMs } = await roundOf(client));
    return startedAtMs > atMs;
  });
  await ended;
  return { how, atMs, nextRoundS: (startedAtMs - atMs) / 1_000 };
}
