/**
 * One worker of `deploy/kubernetes` becomes six and one again, by the autoscaler of its manifest, under 300 jobs and a
 * batch. Each worker ends as Kubernetes ends a pod. The clock of the autoscaler is ten times as fast as in production,
 * and its targets are smaller by as much as the load is; the pods keep their own times.
 * Tier: all. Seven minutes, and some 400 CPU seconds.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createLocalService, type LocalService } from '../../../local-service/src/index.js';
import { itemWorkflowId, jobWorkflowId, parseOwnedSandboxName } from '../../../src/addresses/addresses.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { sandboxEventTypes } from '../../../src/contract/workflow-safe/states.js';
import { createEncryptedDataConverter, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { shell } from '../../e2e/stack/fixture.js';
import { baseObjects, partsIn } from '../../unit/deploy/manifests.js';
import { judgeTimes } from '../../world/oracle/lateness.js';
import type { Broken } from '../../world/oracle/record.js';
import { measureLateness } from '../../world/stack/lateness.js';
import { type AutoscalerSpec, createAutoscaler, slotsUsed } from './autoscaler.js';
import { type Wait, waitsOf } from './delays.js';
import { noPods, type Pod, startPod } from './pod.js';
import { sharedVolume } from './volumes.js';

const jobs = 300;
const items = 100;
/** As an overlay for this load sets them. */
const bounds = { minReplicas: 1, maxReplicas: 6 };
const speed = 10;
const batchId = 'batch';
/** The longest time in which the loss of a follow is noticed: that of a round of the follower. The heartbeat of a young one is 40 s. */
const followMs = 45_000;
/** They last for as long as what they wait for: what counts is when that is seen. */
const longActivities = ['followPrompt', 'watchRunning', 'awaitItems', 'awaitJob'];

const objects = baseObjects();
const parts = new Map(partsIn(objects).map((part) => [part.name, part]));
const autoscalerSpec = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler')?.spec as AutoscalerSpec;
const promptsOfWorker = Number(autoscalerSpec.metrics[0]?.pods.target.averageValue);

/** Some end while an activity follows them, and some are handed over to the follower, after three minutes. */
const secondsOf = (index: number) => 100 + ((index * 37) % 141);
/** The jobs arrive one after another. */
const arrivalMs = 250;
const prompt = (index: number) => shell(`sleep ${secondsOf(index)}; echo answer ${index}`);
const seconds = (ms: number) => Math.round(ms / 100) / 10;

interface ScaledWorker {
  readonly starting: Promise<Pod>;
  pod?: Pod;
}

/** The workers, as the controllers and the kubelet of Kubernetes start, probe and end them. */
function createWorkers(start: () => Promise<Pod>) {
  const probes = parts.get('worker')?.container.livenessProbe;
  const running: ScaledWorker[] = [];
  const endings: Promise<void>[] = [];
  const seen = {
    startMs: [] as number[],
    drainMs: [] as number[],
    exitCodes: [] as (number | null)[],
    most: 0,
    killed: 0,
  };

  /** The kubelet kills a container that fails its liveness probe, but not while the pod ends. */
  async function watch(worker: ScaledWorker, pod: Pod): Promise<void> {
    const { periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probes ?? {};
    for (let failures = 0; running.includes(worker); ) {
      await sleep(1_000 * periodSeconds);
      const status = await Promise.race([pod.probe('livenessProbe'), sleep(1_000 * timeoutSeconds)]);
      failures = status === 200 ? 0 : failures + 1;
      if (failures < failureThreshold || !running.includes(worker)) continue;
      seen.killed += 1;
      return pod.kill('SIGKILL');
    }
  }

  async function add(): Promise<void> {
    const beganMs = performance.now();
    const worker: ScaledWorker = { starting: start() };
    running.push(worker);
    worker.pod = await worker.starting;
    seen.startMs.push(performance.now() - beganMs);
    void watch(worker, worker.pod);
  }

  /** Kubernetes ends the youngest pod first. */
  async function removeYoungest(): Promise<void> {
    const pod = await running.pop()?.starting;
    const beganMs = performance.now();
    const ended = await pod?.terminate();
    seen.drainMs.push(performance.now() - beganMs);
    seen.exitCodes.push(ended?.exitCode ?? null);
  }

  return {
    seen,
    count: () => running.length,
    pods: () => running.flatMap(({ pod }) => (pod ? [pod] : [])),
    scale(to: number) {
      while (running.length < to) endings.push(add());
      while (running.length > to) endings.push(removeYoungest());
      seen.most = Math.max(seen.most, to);
    },
    settled: () => Promise.all(endings),
  };
}

/** The values of each metric of the autoscaler, of the workers that serve them. */
async function metricsOf(pods: readonly Pod[], taskQueue: string): Promise<number[][]> {
  const texts = await Promise.all(
    pods.map(async (pod) => {
      const answer = await fetch(`${pod.urlOf('metrics')}/metrics`).catch(() => undefined);
      return answer?.text();
    }),
  );
  const served = texts.filter((text) => text !== undefined);
  return autoscalerSpec.metrics.map(({ pods: { metric } }) =>
    served.map((text) => slotsUsed(text, metric, taskQueue)).filter((value) => !Number.isNaN(value)),
  );
}

async function archivedSource({ url }: LocalService, apiKey: string): Promise<string> {
  const api = createSandboxClient({ baseUrl: url, apiKey });
  const { sandbox } = await api.createSandbox({ name: 'source' });
  const read = async () => (await api.getSandbox(sandbox.id)).sandbox;
  await expect.poll(async () => (await read()).state).toBe('ready');
  await api.stopSandbox(sandbox.id);
  await expect.poll(async () => (await read()).stop?.status).toBe('completed');
  await api.close();
  return sandbox.id;
}

/** A busy server may answer too late. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let left = 20; ; left -= 1) {
    try {
      return await call();
    } catch (error) {
      if (left === 0) throw error;
      await sleep(1_000);
    }
  }
}

async function untilNoneIsOpen(client: Client, taskQueue: string): Promise<void> {
  const open = () => client.workflow.count(`TaskQueue='${taskQueue}' AND ExecutionStatus='Running'`);
  while ((await patiently(open)).count > 0) await sleep(2_000);
}

test.skipIf(noPods)(
  `no job is lost, doubled or late while workers come and go${noPods ? `, skipped because ${noPods}` : ''}`,
  { timeout: 1_800_000, retry: 0 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandflow-scaled-'));
    const deployment = `s${randomBytes(4).toString('hex')}`;
    const apiKey = 'sk_of_the_test_0123456789';
    const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
    const keyLine = newKeyLine('k1');
    const service = await createLocalService({
      directory: join(folder, 'service'),
      apiKey,
      isolation: 'plain',
      timings: { bootMs: 200, archiveMs: 200 },
    });
    const started: Pod[] = [];
    onTestFinished(async () => {
      for (const pod of started) {
        await pod.kill('SIGKILL');
        await pod.ended;
      }
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await service.listen();
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    onTestFinished(() => connection.close());
    const client = new Client({ connection, dataConverter: createEncryptedDataConverter(parseKeyRing(keyLine)) });
    const options = {
      secrets: {
        'sandflow-api-key': { 'api-key': `${apiKey}\n` },
        'sandflow-encryption-keys': { 'encryption-keys': keyLine },
        'sandflow-webhook-secrets': { 'webhook-secrets': `${webhookSecret}\n` },
      },
      claims: {
        'sandflow-store': sharedVolume(join(folder, 'store'), parts.get('worker')?.pod.securityContext.fsGroup ?? 0),
      },
      settings: {
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        SANDBOX_API_URL: service.url,
        SANDFLOW_DEPLOYMENT: deployment,
        SANDFLOW_TASK_QUEUE: deployment,
      },
      folder,
    };
    const start = async (name: string): Promise<Pod> => {
      const part = parts.get(name);
      if (!part) throw new Error(`The manifests have no ${name}.`);
      const pod = await startPod(part, options);
      started.push(pod);
      return pod;
    };
    // `terminate` knows no hook, and the manifest has none.
    expect(parts.get('worker')?.container).not.toHaveProperty('lifecycle');

    const workers = createWorkers(() => start('worker'));
    workers.scale(bounds.minReplicas);
    await workers.settled();
    const bridge = await start('bridge');
    const url = `${bridge.urlOf('webhooks')}/webhooks/sandbox`;
    await service.seed({
      version: 1,
      webhooks: [{ name: 'bridge', url, events: [...sandboxEventTypes], secret: webhookSecret }],
    });
    const sandboxId = await archivedSource(service, apiKey);

    const loadShare = (jobs + items) / (bounds.maxReplicas * promptsOfWorker);
    const autoscaler = createAutoscaler({ ...autoscalerSpec, ...bounds }, { loadShare, speed });
    const measuring = new AbortController();
    onTestFinished(() => measuring.abort());
    const measured = measureLateness({
      service: async () => (await fetch(`${service.url}/limits`)).arrayBuffer(),
      temporal: () => client.workflowService.getSystemInfo({}),
      signal: measuring.signal,
    });
    const beganMs = performance.now();
    const trace: string[] = [];
    let isOver = false;
    const scaling = async () => {
      while (!measuring.signal.aborted && (!isOver || workers.count() > bounds.minReplicas)) {
        await sleep(autoscaler.everyMs);
        const before = workers.count();
        const values = await metricsOf(workers.pods(), deployment);
        workers.scale(autoscaler.next(before, values));
        if (workers.count() === before) continue;
        const sums = values.map((of) => of.reduce((sum, one) => sum + one, 0));
        trace.push(`${seconds(performance.now() - beganMs)}s ${before}→${workers.count()} (${sums.join(' and ')})`);
      }
    };
    const scaled = scaling();

    const batch = {
      deployment,
      batchId,
      source: { kind: 'sandbox', sandboxId, allowStale: false },
      policy: {
        concurrency: items,
        stopAt: { kind: 'go_on' },
        retries: 0,
        itemDeadlineMs: 3_600_000,
        deadlineMs: 3_600_000,
        budgetSeconds: null,
        type: null,
        end: 'stop',
        ttlSeconds: 3_600,
        onUnknownOutcome: 'wait',
      },
    } as const;
    const indexes = Array.from({ length: jobs }, (_, index) => index);
    const starts = indexes.map(async (index) => {
      await sleep(index * arrivalMs);
      const job = { deployment, jobId: `j${index}`, source: { kind: 'create', body: {} } } as const;
      const settings = { deadlineMs: 3_600_000, ttlSeconds: 3_600, onUnknownOutcome: 'wait' } as const;
      const input = { ...job, ...settings, prompts: [{ prompt: prompt(index) }] };
      return patiently(() => startJob(client, input, { taskQueue: deployment }));
    });
    const itemsOfBatch = Array.from({ length: items }, (_, at) => ({
      id: `item-${at}`,
      prompts: [{ prompt: prompt(jobs + at) }],
    }));
    await patiently(() => submitFanout(client, batch, itemsOfBatch, { taskQueue: deployment }));
    const handles = await Promise.all(starts);
    await untilNoneIsOpen(client, deployment);
    const workMs = performance.now() - beganMs;
    isOver = true;
    await scaled;
    await workers.settled();
    const results = await Promise.all(handles.map(({ handle }) => patiently(() => handle.result())));
    const fanout = await patiently(() => awaitFanout(client, batch));
    process.stderr.write(`autoscaling: ${trace.join(', ')}\n`);

    expect(results.map(({ outcome, prompts: [one] }) => `${outcome}: ${one?.result}`)).toEqual(
      indexes.map((index) => `completed: answer ${index}\n`),
    );
    expect(fanout).toMatchObject({ outcome: 'completed', counts: { completed: items } });
    const ours = service.books.sandboxes().filter(({ name }) => name.startsWith(`${jobWorkflowId(deployment, '')}`));
    const prompts = service.books.prompts();
    const expected = Array.from({ length: jobs + items }, (_, index) => prompt(index)).sort();
    expect(prompts.map(({ text }) => text).sort(), 'each prompt was sent once').toEqual(expected);
    expect(new Set(prompts.map((one) => one.sandboxId)).size, 'each in a sandbox of its own').toBe(jobs + items);
    expect(ours).toHaveLength(jobs + items);
    expect(ours.filter(({ state }) => state !== 'archived')).toEqual([]);

    const { workflows, activities, waits, followEndsMs } = await waitsOf(client, deployment);
    const sandboxes = new Map(ours.map(({ id, name }) => [id, name]));
    const ends = prompts.map(({ sandboxId: id, endedAt }): Wait => {
      const workflowId = workflowIdOf(sandboxes.get(id) ?? '');
      const untilMs = followEndsMs.get(workflowId) ?? Number.NaN;
      return { workflowId, name: 'end of a prompt', fromMs: Date.parse(endedAt ?? ''), untilMs, limitMs: followMs };
    });
    expect(ends.filter(({ untilMs }) => Number.isNaN(untilMs))).toEqual([]);
    const isLost = ({ again, name }: Wait) => again?.includes('timeout') && !longActivities.includes(name);
    const late = [...ends, ...waits.filter(isLost)].filter(
      ({ fromMs, untilMs, limitMs }) => untilMs - fromMs > limitMs,
    );
    const judged = judgeTimes(late.map(brokenOf), measured);
    const longest = (of: readonly Wait[]) => seconds(Math.max(0, ...of.map((wait) => wait.untilMs - wait.fromMs)));
    const again: Record<string, number> = {};
    for (const wait of waits)
      if (wait.again) again[`${wait.name}: ${wait.again}`] = (again[`${wait.name}: ${wait.again}`] ?? 0) + 1;
    const isFirst = (wait: Wait) => wait.again === undefined;
    const summary = {
      seconds: seconds(workMs),
      ...{ workflows, activities, again, late: judged.broken.length, excused: judged.excused.length },
      longestSeconds: {
        start: seconds(Math.max(...workers.seen.startMs)),
        drain: seconds(Math.max(...workers.seen.drainMs)),
        endOfPrompt: longest(ends),
        activity: longest(waits.filter((wait) => isFirst(wait) && wait.name !== 'workflow task')),
        workflowTask: longest(waits.filter(({ name }) => name === 'workflow task')),
      },
    };
    process.stderr.write(`autoscaling: ${JSON.stringify(summary)}\n`);
    expect(judged.broken.map(({ job, what }) => `${job}: ${what}`)).toEqual([]);
    expect([workers.seen.most, workers.count()]).toEqual([bounds.maxReplicas, bounds.minReplicas]);
    expect(workers.seen.exitCodes.filter((code) => code !== 0)).toEqual([]);
    expect(workers.seen.killed, 'no probe failed').toBe(0);
  },
);

/** A machine that was as late as this explains it. */
function brokenOf({ workflowId, name, fromMs, untilMs, limitMs }: Wait): Broken {
  const what = `${name} waited for ${seconds(untilMs - fromMs)} s instead of ${seconds(limitMs)}`;
  const promise = 'nothing waits longer than until a lost task is noticed';
  return { promise, job: workflowId, what, late: { fromMs, untilMs, missedMs: untilMs - fromMs - limitMs } };
}

/** The workflow that created a sandbox. */
function workflowIdOf(sandboxName: string): string {
  const { deployment = '', jobId = '', step = '' } = parseOwnedSandboxName(sandboxName) ?? {};
  const index = Number.parseInt(step.slice(1), 36);
  return jobId === batchId ? itemWorkflowId(deployment, batchId, index) : jobWorkflowId(deployment, jobId);
}
