/** Plays a plan on real processes, and returns the promises that it broke. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureWebhook, webhookPath } from '../../src/bridge/index.js';
import { createSandboxClient } from '../../src/client/index.js';
import { createResultStore } from '../../src/result-store/index.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import type { ProxiedCall } from '../matrix/faults/fault-proxy.js';
import { brokenCauses } from './oracle/causes.js';
import { brokenOutcomes } from './oracle/outcomes.js';
import { brokenPrompts } from './oracle/prompts.js';
import { type Broken, madeBy, type WorldRecord } from './oracle/record.js';
import { brokenSandboxes } from './oracle/sandboxes.js';
import { brokenUses } from './oracle/uses.js';
import { brokenLogs, brokenRuns } from './oracle/workflows.js';
import type { JobPlan, Plan } from './plan/plan.js';
import { type Account, archivedByPerson, type Books, persist } from './players/account.js';
import { playBatch } from './players/batch.js';
import { playCleanup } from './players/cleanup.js';
import { act } from './players/others.js';
import { playRun } from './players/run.js';
import { playStop } from './players/stop.js';
import type { Told } from './players/told.js';
import { createTraces } from './players/traces.js';
import { startParts } from './stack/parts.js';
import { createPost } from './stack/post.js';
import { type AfterCalls, createWire } from './stack/wire.js';

export interface WorldOptions {
  /** For the state and the logs of its processes. */
  readonly directory: string;
  readonly temporalBinary: string;
  readonly bundlePath: string;
  readonly signal: AbortSignal;
}

export interface WorldEnd {
  readonly broken: readonly Broken[];
  readonly outcomes: readonly { readonly job: string; readonly outcome: string }[];
  /** Troubles that have struck. */
  readonly struck: ReadonlySet<string>;
  readonly calls: number;
  readonly durationMs: number;
}

const deployment = 'world';
const workers = 2;
/** Starts are spread over this time per job, so that jobs begin while others work. */
const startEveryMs = 150;
/** The time in which everything under way arrives after the last job has ended. */
const settleMs = 8_000;

export async function playWorld(plan: Plan, options: WorldOptions): Promise<WorldEnd> {
  const beganMs = Date.now();
  const apiKey = `canary-${randomBytes(12).toString('hex')}`;
  const taskQueue = 'world';
  const parts = await startParts({ ...options, taskQueue, apiKey, workers });
  const open: (() => Promise<unknown>)[] = [() => parts.close()];
  try {
    const api = createSandboxClient({ baseUrl: parts.serviceUrl, apiKey, timeoutMs: 30_000 });
    open.push(() => api.close());
    const client = await connectTemporal({ address: parts.temporalAddress });
    open.push(() => client.connection.close());
    const broken: Broken[] = [];
    const problems: string[] = [];
    const bridgeUrl = `http://127.0.0.1:${parts.bridgePort}${webhookPath}`;
    const post = await createPost(bridgeUrl, plan, () => undefined);
    open.push(() => post.close());
    await ensureWebhook(api, { url: post.url, name: 'world', secretFile: parts.secretFile });
    await parts.startBridge();

    const readBooks = () => persist(options.signal, () => fetchBooks(parts.serviceUrl, apiKey));
    const traces = createTraces();
    const disturb = async (trouble: AfterCalls) => {
      if (trouble.kind === 'death') return parts.kill(trouble.part);
      const admin = (path: string, body: unknown) =>
        persist(options.signal, () => callAdmin(parts.serviceUrl, apiKey, path, body));
      if (trouble.kind === 'hours') return admin('clock', { advanceSeconds: trouble.hours * 3_600 });
      return admin('faults', trouble.fault);
    };
    // Deaths follow one another, so that a part is not killed while it starts.
    let disturbing = Promise.resolve();
    const wire = await createWire(parts.serviceUrl, plan, {
      async onCall(trouble, call) {
        const job = trouble.at.job;
        const isBatch = plan.jobs.some(({ key, kind }) => key === job && kind === 'batch');
        // A terminated batch tells no end: only its items are terminated.
        if (trouble.kind === 'message' && isBatch && call.workflowId === `sf-${deployment}-${job}`) return;
        const record = { books: await readBooks(), calls: wire.calls } as unknown as WorldRecord;
        const own = madeBy(record, { job, workflowId: `sf-${deployment}-${job}` });
        const isOwn = own.some(({ id }) => id === call.sandboxId) || givenOf.get(job)?.includes(call.sandboxId ?? '');
        const newest = own.filter(({ gone }) => gone === null).at(-1)?.id;
        const sandboxId = isOwn ? (call.sandboxId ?? undefined) : newest;
        const text = call.promptText ?? lastText(wire.calls.map((one) => one.call)) ?? 'hello';
        await act(account, trouble, { sandboxId, call, text }, traces);
      },
      onCount(trouble) {
        disturbing = disturbing
          .then(() => disturb(trouble))
          .catch((error: unknown) => void problems.push(`${trouble.key}: ${String(error)}`));
      },
    });
    open.push(() => wire.close());
    await parts.startWorkers(wire.url);
    const sourceId = await archivedByPerson({ api, signal: options.signal }, 'person-source');
    const givenOf = new Map<string, readonly string[]>();
    const account: Account = {
      client,
      api,
      results: createResultStore(parts.resultsDirectory),
      taskQueue,
      deployment,
      books: readBooks,
      sourceId,
      watch: wire.watch,
      signal: options.signal,
    };

    const told: Told[] = [];
    await Promise.all(
      plan.jobs.map(async (job, at) => {
        await sleep(at * startEveryMs);
        try {
          const end = await play(account, job, (given) => givenOf.set(job.key, given));
          told.push(end);
        } catch (error) {
          broken.push({ promise: 'every job ends in a named outcome', job: job.key, what: reasonOf(error) });
        }
      }),
    );
    await disturbing;
    for (const newcomer of traces.newcomers) {
      const end = await newcomer.catch(() => undefined);
      if (end) told.push(end);
    }
    if (problems.length > 0) throw new Error(`The world itself failed: ${problems.join('; ')}`);

    const secrets = [
      apiKey,
      ...readFileSync(parts.secretFile, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    ];
    const judge = async (): Promise<Broken[]> => {
      const struck = new Set([...wire.struck, ...post.struck]);
      const record = { plan, told, books: await readBooks(), calls: wire.calls, traces, struck, sourceId };
      return [
        ...brokenSandboxes(record),
        ...brokenPrompts(record),
        ...brokenOutcomes(record),
        ...brokenCauses(record),
        ...brokenUses(record),
      ];
    };
    const untilMs = Date.now() + settleMs;
    let judged = await judge();
    while (judged.length > 0 && Date.now() < untilMs) {
      await sleep(500);
      judged = await judge();
    }
    broken.push(
      ...judged,
      ...post.broken.map((what) => ({ promise: 'only signed events wake', job: null, what })),
      ...(await brokenRuns(client, { told, terminated: traces.terminated }, secrets)),
      ...brokenLogs(parts.logFiles, secrets),
    );
    return {
      broken,
      outcomes: told.map(({ job, outcome }) => ({ job, outcome })),
      struck: new Set([...wire.struck, ...post.struck]),
      calls: wire.calls.length,
      durationMs: Date.now() - beganMs,
    };
  } finally {
    for (const close of open.reverse()) await close().catch(() => undefined);
  }
}

async function play(account: Account, job: JobPlan, onGiven: (given: readonly string[]) => void): Promise<Told> {
  switch (job.kind) {
    case 'run':
      return playRun(account, job, onGiven);
    case 'batch':
      return playBatch(account, job, onGiven);
    case 'stop':
      return playStop(account, job, onGiven);
    case 'cleanup':
      return playCleanup(account, job, onGiven);
  }
}

async function fetchBooks(serviceUrl: string, apiKey: string): Promise<Books> {
  const answer = await fetch(new URL('/_local/books', serviceUrl), { headers: { authorization: `Bearer ${apiKey}` } });
  if (!answer.ok) throw new Error(`The books were refused with ${answer.status}`);
  return (await answer.json()) as Books;
}

async function callAdmin(serviceUrl: string, apiKey: string, path: string, body: unknown): Promise<void> {
  const answer = await fetch(new URL(`/_local/${path}`, serviceUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} was refused: ${await answer.text()}`);
}

const lastText = (calls: readonly ProxiedCall[]) => calls.findLast(({ promptText }) => promptText)?.promptText;

function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) parts.push(at.message);
  return parts.join(': ') || String(error);
}
