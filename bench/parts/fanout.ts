/** Measures what an item of a batch costs, whether it costs more in a larger batch, and what a polling script costs. */
import { jobWorkflowId } from '../../src/addresses/addresses.js';
import { fanoutPlaces } from '../../src/addresses/fanout-addresses.js';
import { isUsable } from '../../src/contract/workflow-safe/states.js';
import type { FanoutInput, FanoutItem } from '../../src/protocol/fanout/fanout-input.js';
import type { FanoutResult } from '../../src/protocol/fanout/fanout-result.js';
import { awaitFanout, submitFanout } from '../../src/workflow-client/fanouts/submit-fanout.js';
import { callsBetween } from '../measure/book-reader.js';
import { runForkingScript } from '../measure/forking-script.js';
import { historySize } from '../measure/history.js';
import { deployment, inParallel, shellPrompt } from '../measure/plain-job.js';
import { createStand, type Part, type Stand, type Workshop } from '../stand.js';
import { stepsMs } from './concurrent-jobs.js';
import { untilTrue } from './waiting-jobs.js';

export interface FanoutCost {
  readonly items: number;
  readonly perSecond: number;
  readonly callsPerItem: number;
  readonly script: { readonly perSecond: number; readonly callsPerItem: number };
  /** For the batch and its chunks, all events; for an item, the median. */
  readonly events: { readonly batch: number; readonly chunks: number; readonly item: number };
  readonly workerMb: { readonly before: number; readonly most: number };
  /** The CPU milliseconds of each process for each item. */
  readonly cpuMs: Readonly<Record<Part, number>>;
}

/** The number of simultaneous items, for the batch and for the script. */
const atOnce = 50;
/** More than the machine can do, so that the rate does not limit what is measured. */
const forksPerSecond = 1_000;
const sampleEveryMs = 500;
const prompt = shellPrompt(`sleep ${stepsMs.prompt / 1_000}`);

export async function measureFanouts(
  workshop: Workshop,
  { counts }: { readonly counts: readonly number[] },
): Promise<FanoutCost[]> {
  const measured: FanoutCost[] = [];
  for (const items of counts) {
    const { signal } = workshop;
    const timings = { bootMs: stepsMs.boot, archiveMs: stepsMs.archive };
    const stand = await createStand(workshop, { name: `fanout-${items}`, timings, forksPerSecond });
    try {
      const sourceId = await prepareSource(stand);
      await runBatch(stand, batchInput('warm-up', sourceId), { count: 2, signal });
      const script = await measureScript(stand, sourceId, items);
      measured.push({ items, script, ...(await measureBatch(stand, sourceId, { items, signal })) });
    } finally {
      await stand.close();
    }
  }
  return measured;
}

async function measureBatch(
  stand: Stand,
  sourceId: string,
  { items, signal }: { readonly items: number; readonly signal: AbortSignal },
): Promise<Omit<FanoutCost, 'items' | 'script'>> {
  const calls = await stand.books.summary();
  const cpu = stand.cpu();
  const before = stand.residentMb('worker');
  let most = before;
  const sampling = setInterval(() => {
    try {
      most = Math.max(most, stand.residentMb('worker'));
    } catch {
      // If the bench is interrupted, the worker ends before the batch.
      clearInterval(sampling);
    }
  }, sampleEveryMs);
  const beganMs = performance.now();
  const result = await runBatch(stand, batchInput('measured', sourceId), { count: items, signal }).finally(() =>
    clearInterval(sampling),
  );
  const seconds = (performance.now() - beganMs) / 1_000;
  const after = stand.cpu();
  const made = callsBetween(calls, await stand.books.summary());
  const each = (part: Part) => ((after[part] - cpu[part]) * 1_000) / items;
  return {
    perSecond: items / seconds,
    callsPerItem: made.total / items,
    events: await eventsOf(stand, result, items),
    workerMb: { before, most },
    cpuMs: {
      engine: each('engine'),
      worker: each('worker'),
      bridge: each('bridge'),
      service: each('service'),
      bareWorker: each('bareWorker'),
    },
  };
}

async function measureScript(stand: Stand, sourceId: string, items: number): Promise<FanoutCost['script']> {
  const calls = await stand.books.summary();
  const beganMs = performance.now();
  await inParallel(items, atOnce, () => runForkingScript(stand.api, sourceId, prompt));
  const seconds = (performance.now() - beganMs) / 1_000;
  return {
    perSecond: items / seconds,
    callsPerItem: callsBetween(calls, await stand.books.summary()).total / items,
  };
}

/**
 * @param signal ends the wait if the bench ends early: without it, the wait for a server that is gone would never end
 */
async function runBatch(
  stand: Stand,
  input: FanoutInput,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<FanoutResult> {
  const items: FanoutItem[] = Array.from({ length: count }, (_, index) => ({
    id: `item-${index}`,
    prompts: [{ prompt }],
  }));
  await submitFanout(stand.client, input, items, { taskQueue: stand.taskQueue });
  const result = await awaitFanout(stand.client, input, { signal });
  if (result.outcome !== 'completed') throw new Error(`A batch ended as ${result.outcome}: ${result.error?.message}`);
  return result;
}

/** Counts the events of all runs, because a workflow may have continued as new. */
async function eventsOf(stand: Stand, result: FanoutResult, items: number): Promise<FanoutCost['events']> {
  const places = fanoutPlaces({ deployment, batchId: result.batchId, batchKey: result.batchKey });
  const eventsIn = async (workflowId: string) => {
    let events = 0;
    const runs = stand.client.workflow.list({ query: `WorkflowId = "${workflowId}"` });
    for await (const { historyLength } of runs) events += historyLength ?? 0;
    return events;
  };
  let chunks = 0;
  for (let chunk = 0; chunk < result.chunks; chunk += 1) chunks += await eventsIn(places.chunkWorkflow(chunk));
  const handles = Array.from({ length: items }, (_, index) =>
    stand.client.workflow.getHandle(places.itemWorkflow(index)),
  );
  return {
    batch: await eventsIn(jobWorkflowId(deployment, result.batchId)),
    chunks,
    item: (await historySize(handles)).events,
  };
}

/** Creates an archived sandbox. Forks restore its snapshot. */
async function prepareSource({ api }: Stand): Promise<string> {
  const { sandbox } = await api.createSandbox({ name: 'source' });
  await untilTrue(async () => isUsable((await api.getSandbox(sandbox.id)).sandbox.state));
  await api.stopSandbox(sandbox.id);
  await untilTrue(async () => (await api.getSandbox(sandbox.id)).sandbox.stop?.status === 'completed');
  return sandbox.id;
}

function batchInput(batchId: string, sandboxId: string): FanoutInput {
  return {
    deployment,
    batchId,
    source: { kind: 'sandbox', sandboxId, allowStale: false },
    policy: {
      concurrency: atOnce,
      stopAt: { kind: 'go_on' },
      retries: 0,
      itemDeadlineMs: 3_600_000,
      deadlineMs: 24 * 3_600_000,
      budgetSeconds: null,
      type: null,
      end: 'stop',
      ttlSeconds: 3_600,
      onUnknownOutcome: 'abandon',
    },
  };
}
