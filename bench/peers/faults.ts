/** Does jobs while something fails, and counts what was lost, done twice, or left running. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PeerOptions } from './options.js';
import type { Listeners, Peer, RunningPeer, Workshop } from './peer.js';
import type { Books } from './service/books.js';
import { type BenchService, startService } from './service-control.js';

interface Fault {
  readonly name: string;
  /** Before the first job. */
  readonly before?: (service: BenchService) => Promise<unknown>;
  /** While the jobs are under way. */
  readonly during?: (peer: RunningPeer) => Promise<void> | undefined;
  /** True if only a peer with an engine can have it. */
  readonly needsEngine?: boolean;
}

export interface FaultResult {
  readonly fault: string;
  readonly peer: string;
  readonly jobs: number;
  /** Jobs that failed, and jobs that had not ended in time. */
  readonly failed: number;
  readonly unended: number;
  /** Sandboxes beyond the first of each job, and prompts beyond the first of each job. */
  readonly sandboxesTwice: number;
  readonly promptsTwice: number;
  /** Sandboxes whose machine still runs. */
  readonly leftRunning: number;
  /** How long the jobs took, the whole limit if some did not end. */
  readonly seconds: number;
}

const faults: readonly Fault[] = [
  { name: 'none' },
  { name: 'kill -9 of the app', during: (peer) => peer.restartApp('SIGKILL') },
  { name: 'kill -9 of the engine', during: (peer) => peer.restartEngine?.(), needsEngine: true },
  { name: 'deploy: SIGTERM and restart', during: (peer) => peer.restartApp('SIGTERM') },
  { name: 'answer to create lost', before: (service) => service.setFaults({ loseFirstAnswer: 'createSandbox' }) },
  { name: 'answer to prompt lost', before: (service) => service.setFaults({ loseFirstAnswer: 'sendPrompt' }) },
  { name: 'all webhooks lost', before: (service) => service.setFaults({ webhooks: 'lost' }) },
  { name: 'each webhook doubled', before: (service) => service.setFaults({ webhooks: 'doubled' }) },
];

/** Between the starts of two jobs, so that a fault meets jobs in all their stages. */
const startEveryMs = 60;
const faultAtMs = 900;
/** Machines of jobs that have just ended may still be archiving. */
const settleMs = 2_000;

/** All peers meet a fault at the same time: counts do not depend on how busy the machine is. */
export async function measureFaults(
  workshop: Workshop,
  options: PeerOptions,
  { onProgress, onResult }: Listeners<FaultResult>,
): Promise<void> {
  const chosen = faults.filter(({ name }) => name.includes(options.faultName));
  for (const [at, fault] of chosen.entries()) {
    onProgress(`Fault: ${fault.name} …`);
    const meet = (peer: Peer) => measureFault(workshop, options, { peer, fault, name: `fault-${at}-${peer.name}` });
    for (const result of (await Promise.all(options.peers.map(meet))).flat()) onResult(result);
  }
}

async function measureFault(
  workshop: Workshop,
  { delays, faultJobs, faultSeconds }: PeerOptions,
  { peer, fault, name }: { readonly peer: Peer; readonly fault: Fault; readonly name: string },
): Promise<FaultResult[]> {
  const directory = join(workshop.directory, name);
  await mkdir(directory, { recursive: true });
  const service = await startService(directory, delays);
  try {
    const inFile = fault.needsEngine === true;
    const running = await peer.start({ workshop, directory, serviceUrl: service.url, apiKey: peer.name, inFile });
    try {
      if (fault.needsEngine && !running.restartEngine) return [];
      await running.runJob('warm-up');
      await service.forget();
      await fault.before?.(service);
      const jobs = Array.from({ length: faultJobs }, (_, index) => `job-${String(index).padStart(4, '0')}`);
      const ends = startJobs(running, jobs);
      const beganMs = performance.now();
      if (fault.during) {
        await sleep(faultAtMs);
        await fault.during(running);
      }
      const leftMs = faultSeconds * 1_000 - (performance.now() - beganMs);
      await Promise.race([ends.all, sleep(Math.max(0, leftMs), undefined, { ref: false })]);
      const seconds = (performance.now() - beganMs) / 1_000;
      await sleep(settleMs);
      const { failed, done } = ends;
      const counts = { failed: failed(), unended: jobs.length - done() - failed(), seconds };
      return [
        { fault: fault.name, peer: peer.name, jobs: jobs.length, ...counts, ...inBooks(await service.books(), jobs) },
      ];
    } finally {
      await running.close();
    }
  } finally {
    await service.close();
  }
}

function startJobs(running: RunningPeer, jobs: readonly string[]) {
  let done = 0;
  let failed = 0;
  const run = async (job: string, index: number) => {
    await sleep(index * startEveryMs);
    await running.runJob(job).then(
      () => {
        done += 1;
      },
      () => {
        failed += 1;
      },
    );
  };
  return { all: Promise.all(jobs.map(run)), done: () => done, failed: () => failed };
}

function inBooks({ sandboxes }: Books, jobs: readonly string[]) {
  let sandboxesTwice = 0;
  let promptsTwice = 0;
  for (const job of jobs) {
    const own = sandboxes.filter(({ name }) => name.includes(job));
    sandboxesTwice += Math.max(0, own.length - 1);
    promptsTwice += Math.max(0, own.reduce((sum, { promptsAtMs }) => sum + promptsAtMs.length, 0) - 1);
  }
  const leftRunning = sandboxes.filter(({ state }) => state !== 'archived').length;
  return { sandboxesTwice, promptsTwice, leftRunning };
}
