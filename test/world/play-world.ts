/** Plays a plan on real processes, and returns the promises that it broke. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { jobWorkflowId } from '../../src/addresses/addresses.js';
import { ensureWebhook, webhookPath } from '../../src/bridge/index.js';
import { createSandboxClient } from '../../src/client/index.js';
import type { EndpointName } from '../../src/contract/endpoints/endpoints.js';
import { createResultStore } from '../../src/result-store/index.js';
import { connectTemporal } from '../../src/temporal/connect.js';
import type { ProxiedCall } from '../slow/matrix/faults/fault-proxy.js';
import { brokenBreakers } from './oracle/breaker.js';
import { brokenCallers } from './oracle/callers.js';
import { brokenCauses } from './oracle/causes.js';
import { brokenChecks } from './oracle/checks.js';
import { brokenClasses } from './oracle/classes.js';
import { brokenEscalations } from './oracle/escalations.js';
import { type Excused, judgeTimes, mostLostMs } from './oracle/lateness.js';
import { brokenOutcomes } from './oracle/outcomes.js';
import { brokenPeople } from './oracle/people.js';
import { brokenPrompts } from './oracle/prompts.js';
import { type Broken, madeBy, type WorldRecord } from './oracle/record.js';
import { brokenSandboxes } from './oracle/sandboxes.js';
import { brokenSources } from './oracle/sources.js';
import { brokenTimes } from './oracle/times.js';
import { brokenUses } from './oracle/uses.js';
import { brokenWaits } from './oracle/waits.js';
import { brokenWork } from './oracle/work.js';
import { brokenLogs, brokenRuns } from './oracle/workflows.js';
import type { JobPlan, Plan } from './plan/plan.js';
import { type Account, archivedByPerson, type Books, persist } from './players/account.js';
import { playBatch } from './players/batch.js';
import { checkRuns as countCheckRuns } from './players/checks.js';
import { playCleanup } from './players/cleanup.js';
import { commandLinePatienceMs, playCommandLine } from './players/command-line.js';
import { happenLater } from './players/later.js';
import { act } from './players/others.js';
import { readOpenWorkflows } from './players/readers.js';
import { playRun } from './players/run.js';
import { givenTo } from './players/sources.js';
import { playStop } from './players/stop.js';
import type { Told } from './players/told.js';
import { createTraces } from './players/traces.js';
import { crashAtEvents } from './stack/crash-at-events.js';
import { measureLateness } from './stack/lateness.js';
import { startParts } from './stack/parts.js';
import { createPost } from './stack/post.js';
import { createTerminal } from './stack/terminal.js';
import { type AfterCalls, type CallOfWorld, type Crash, createWire } from './stack/wire.js';

export interface WorldOptions {
  /** For the state and the logs of its processes. */
  readonly directory: string;
  readonly temporalBinary: string;
  readonly bundlePath: string;
  readonly signal: AbortSignal;
  /** Default: 2. */
  readonly workers?: number;
}

export interface WorldEnd {
  readonly broken: readonly Broken[];
  /** What the machine was too late for. */
  readonly excused: readonly Excused[];
  /** How late the machine was in the whole world, in ms. */
  readonly lostMs: number;
  readonly outcomes: readonly {
    readonly job: string;
    readonly outcome: string;
    /** Its error; null without. */
    readonly why: string | null;
    readonly lastedMs: number;
  }[];
  /** What was told and what the books say, to find out why a promise was broken. */
  readonly evidence: unknown;
  /** Troubles that have struck. */
  readonly struck: ReadonlySet<string>;
  readonly calls: number;
  /** The endpoints that each job called, in order. */
  readonly callsByJob: Readonly<Record<string, readonly EndpointName[]>>;
  /** The number of events in the history of each job's first workflow. */
  readonly eventsByJob: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

const deployment = 'world';
/** Starts are spread over this time per job, so that jobs begin while others work. */
const startEveryMs = 150;
/** The time in which everything under way arrives after the last job has ended. */
const settleMs = 8_000;
const patienceMs = 360_000;

export async function playWorld(plan: Plan, options: WorldOptions): Promise<WorldEnd> {
  const beganMs = Date.now();
  const apiKey = `canary-${randomBytes(12).toString('hex')}`;
  const taskQueue = 'world';
  const parts = await startParts({ ...options, workers: options.workers ?? 2, taskQueue, apiKey });
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

    const readBooks = () =>
      persist(options.signal, async () => (await fetchAdmin(parts.serviceUrl, apiKey, 'books')) as Books);
    const traces = createTraces();
    const admin = (path: string, body: unknown) =>
      persist(options.signal, () => callAdmin(parts.serviceUrl, apiKey, path, body));
    const disturb = async (trouble: AfterCalls) => {
      if (trouble.kind === 'death') return parts.kill(trouble.part);
      if (trouble.kind === 'hours') return admin('clock', { advanceSeconds: trouble.hours * 3_600 });
      return admin('faults', trouble.fault);
    };
    // Deaths follow one another, so that a part is not killed while it starts.
    let disturbing = Promise.resolve();
    const restarts: Promise<void>[] = [];
    const note = (key: string) => (error: unknown) => void problems.push(`${key}: ${String(error)}`);
    const crash = ({ key, part }: Crash, pid: number | undefined) => {
      const startAgain = parts.crash(part, pid);
      // Workers start side by side; the other parts are one process each.
      if (part === 'worker') restarts.push(startAgain().catch(note(key)));
      else disturbing = disturbing.then(startAgain).catch(note(key));
    };
    const wire = await createWire(parts.serviceUrl, plan, {
      async onCall(trouble, call) {
        const job = trouble.at.job;
        const of = plan.jobs.find(({ key }) => key === job);
        // A terminated batch tells no end: only its items are terminated.
        if (trouble.kind === 'message' && of?.kind === 'batch' && call.workflowId === `sf-${deployment}-${job}`) return;
        const record = { books: await readBooks(), calls: wire.calls, traces } as unknown as WorldRecord;
        const own = madeBy(record, { job, workflowId: `sf-${deployment}-${job}` });
        const isOwn = own.some(({ id }) => id === call.sandboxId) || givenOf.get(job)?.includes(call.sandboxId ?? '');
        const newest = own.filter(({ gone }) => gone === null).at(-1)?.id;
        // Who arrives at a create meets what the job was given, such as the holder of its snapshot.
        const isMet = trouble.kind === 'newcomer' && call.sandboxId === null;
        const met = isMet ? givenTo(of, call.workflowId, givenOf.get(job) ?? []) : undefined;
        const concerned = isOwn ? (call.sandboxId ?? undefined) : newest;
        const sandboxId = isMet ? met : concerned;
        const text = call.promptText ?? lastText(wire.calls.map((one) => one.call)) ?? 'hello';
        await act(account, trouble, { sandboxId, call, text }, traces);
      },
      onDeploy({ key }) {
        disturbing = disturbing.then(() => parts.deploy()).catch(note(key));
      },
      onCrash: (trouble, call) => crash(trouble, call.pid),
      onCount(trouble) {
        disturbing = disturbing.then(() => disturb(trouble)).catch(note(trouble.key));
      },
    });
    open.push(() => wire.close());
    await parts.startWorkers(wire.url);
    const terminal = await createTerminal(wire.url, (job) => jobWorkflowId(deployment, job));
    open.push(() => terminal.close());
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
      calls: () => wire.calls,
      watch: wire.watch,
      notes: options.directory,
      arm: (fault) => admin('faults', fault),
      terminal: (job) => ({
        ...{ TEMPORAL_ADDRESS: parts.temporalAddress, SANDBOX_API_URL: terminal.urlFor(job), SANDBOX_API_KEY: apiKey },
        ...{ SANDFLOW_HOME: options.directory, SANDFLOW_RESULTS: parts.resultsDirectory },
        ...{
          SANDFLOW_DEPLOYMENT: deployment,
          SANDFLOW_TASK_QUEUE: taskQueue,
          SANDFLOW_PATIENCE_SECONDS: `${commandLinePatienceMs / 1_000}`,
        },
      }),
      signal: options.signal,
    };

    const watching = new AbortController();
    open.push(async () => watching.abort());
    const measuring = new AbortController();
    open.push(async () => measuring.abort());
    const measured = measureLateness({
      service: () => fetchAdmin(parts.serviceUrl, apiKey, 'clock'),
      temporal: () => client.workflowService.describeNamespace({ namespace: 'default' }),
      signal: measuring.signal,
    });
    const crashedAtEvents = crashAtEvents(client, plan, {
      deployment,
      signal: watching.signal,
      onCrash: (trouble) => crash(trouble, wire.calls.findLast(({ job }) => job === trouble.at.job)?.call.pid),
    });

    const reading = readOpenWorkflows(client, watching.signal);

    const told: Told[] = [];
    const stuck: unknown[] = [];
    const happened = new Set<string>();
    const played = new Map<string, { readonly fromMs: number; readonly untilMs: number }>();
    await Promise.all(
      plan.jobs.map(async (job, at) => {
        await sleep(at * startEveryMs);
        const fromMs = Date.now();
        try {
          const end = await within(play(account, job, (given) => givenOf.set(job.key, given)));
          told.push(end);
          played.set(job.key, { fromMs, untilMs: Date.now() });
          for (const trouble of plan.troubles) {
            if (trouble.kind !== 'later' || trouble.at.job !== job.key) continue;
            if (await within(happenLater(account, trouble, end, traces))) happened.add(trouble.key);
          }
        } catch (error) {
          broken.push({ promise: 'every job ends in a named outcome', job: job.key, what: reasonOf(error) });
          stuck.push(await stateOf(client, jobWorkflowId(deployment, job.key)));
        }
      }),
    );
    await disturbing;
    await Promise.all(restarts);
    watching.abort();
    await reading;
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
    const allStruck = () => new Set([...wire.struck, ...post.struck, ...crashedAtEvents, ...happened]);
    const judge = async () => {
      const struck = allStruck();
      const checkRuns = new Map(plan.jobs.map(({ key }) => [key, countCheckRuns(options.directory, key)]));
      const base = { plan, told, books: await readBooks(), calls: wire.calls, traces };
      const record = { ...base, struck, sourceId, played, checkRuns };
      const found = [
        ...brokenSandboxes(record),
        ...brokenPrompts(record),
        ...brokenOutcomes(record),
        ...brokenCallers(record),
        ...brokenCauses(record),
        ...brokenUses(record),
        ...brokenEscalations(record),
        ...brokenTimes(record),
        ...brokenWork(record),
        ...brokenPeople(record),
        ...brokenWaits(record),
        ...brokenChecks(record),
        ...brokenClasses(record),
        ...brokenBreakers(record),
        ...brokenSources(record),
      ];
      return judgeTimes(found, measured);
    };
    const endedMs = Date.now();
    const lostSinceMs = (fromMs: number) => mostLostMs(measured, { fromMs, untilMs: Date.now() });
    let judged = await judge();
    while (judged.broken.length > 0 && Date.now() < endedMs + settleMs + lostSinceMs(endedMs)) {
      await sleep(500);
      judged = await judge();
    }
    broken.push(
      ...judged.broken,
      ...post.broken.map((what) => ({ promise: 'only signed events wake', job: null, what })),
      ...(await brokenRuns(client, { told, terminated: traces.terminated }, secrets)),
      ...brokenLogs(parts.logFiles, secrets),
    );
    const { excused } = judged;
    const evidence = {
      plan,
      broken,
      excused,
      measured,
      stuck,
      told,
      traces: shown(traces),
      books: await readBooks(),
      calls: wire.calls,
    };
    return {
      broken,
      excused,
      lostMs: lostSinceMs(beganMs),
      evidence,
      outcomes: told.map(({ job, outcome, error, jobs }) => {
        const { code, message } = error ?? jobs[0]?.error ?? {};
        return { job, outcome, why: code ? `${code}: ${message}` : null, lastedMs: lastedMs(played.get(job)) };
      }),
      struck: allStruck(),
      calls: wire.calls.length,
      callsByJob: groupCalls(wire.calls),
      eventsByJob: await countEvents(client, told),
      durationMs: Date.now() - beganMs,
    };
  } finally {
    for (const close of open.reverse()) await close().catch(() => undefined);
  }
}

/** @throws if the job has not ended after its deadline, its clean-up and a busy machine's share */
async function within<T>(work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(patienceMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`It did not end within ${patienceMs / 1_000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
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
    case 'command-line':
      return playCommandLine(account, job);
  }
}

function groupCalls(calls: readonly CallOfWorld[]): Record<string, EndpointName[]> {
  const found: Record<string, EndpointName[]> = {};
  for (const { job, call } of calls) found[job] = [...(found[job] ?? []), call.endpoint];
  return found;
}

async function countEvents(client: Client, told: readonly Told[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { job, workflowId } of told) {
    const description = await client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => undefined);
    found[job] = description?.historyLength ?? 0;
  }
  return found;
}

/** The history of a workflow that has not ended, and what it waits for. */
async function stateOf(client: Client, workflowId: string): Promise<unknown> {
  try {
    const handle = client.workflow.getHandle(workflowId);
    const { raw } = await handle.describe();
    return { workflowId, pending: raw, history: historyToJSON(await handle.fetchHistory()) };
  } catch (error) {
    return { workflowId, error: reasonOf(error) };
  }
}

/** Sets as lists, for JSON. */
function shown(traces: object): object {
  return Object.fromEntries(
    Object.entries(traces).map(([name, value]) => [
      name,
      value instanceof Set || value instanceof Map ? [...value] : value,
    ]),
  );
}

const lastedMs = (played: { readonly fromMs: number; readonly untilMs: number } | undefined) =>
  played === undefined ? 0 : played.untilMs - played.fromMs;

async function fetchAdmin(serviceUrl: string, apiKey: string, path: string): Promise<unknown> {
  const url = new URL(`/_local/${path}`, serviceUrl);
  const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
  if (!answer.ok) throw new Error(`${path} was refused with ${answer.status}`);
  return answer.json();
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
