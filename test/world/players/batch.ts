/** A user who runs a batch. */

import { setTimeout as sleep } from 'node:timers/promises';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { cancelFanout, fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import type { FanoutInput, FanoutResult, ItemResult } from '../../../workflows/index.js';
import type { BatchPlan } from '../plan/plan.js';
import { type Account, archivedByPerson, madeByPerson, persist, script, timing } from './account.js';
import { itemCheckOf, mendItemCheck } from './checks.js';
import { missingProvider } from './run.js';
import { isOfPerson, makeSource, mendPreparations, namedSource, preparationDeadlineMs, seedOf } from './sources.js';
import { type BatchEnd, type Hold, type Told, tellingOf } from './told.js';

export const batchDeadlineMs = 120_000;
export const itemDeadlineMs = 60_000;
/** How long an item works. */
export const itemSeconds = ({ tight }: Pick<BatchPlan, 'tight'>) => (tight ? 2 : 0);
/** Shorter than the batch, and longer than a worker is away that was killed. */
export const tightLease = { leaseLastsMs: 9_000, renewLeaseEveryMs: 4_000 };

/** The answer says from which state its fork began: the first line is the item, the others are the state. */
const itemText = (plan: BatchPlan, at: number) =>
  script(`sleep ${itemSeconds(plan)}; echo ${plan.key} ${at}; cat seed`);

/** The source of the batch. @param seed what its forks show of it */
async function sourceOf(account: Account, { source, key }: BatchPlan, seed?: string) {
  const sandbox = (sandboxId: string) => ({ kind: 'sandbox', sandboxId, allowStale: false }) as const;
  if (source === 'archived') {
    const sandboxId = await archivedByPerson(account, `person-${key}`, seed);
    return { given: [sandboxId], source: sandbox(sandboxId) };
  }
  if (source === 'snapshot') {
    const sandboxId = await archivedByPerson(account, `person-${key}`, seed);
    const from = `snapshot-of-${key}`;
    await persist(account.signal, () => account.api.updateSandbox(sandboxId, { snapshotName: from }));
    return { given: [sandboxId], source: { kind: 'snapshot', from, body: {} } as const };
  }
  if (source === 'usable') {
    const sandboxId = await madeByPerson(account, `person-${key}`);
    await persist(account.signal, () =>
      account.api.writeFile(sandboxId, { path: 'seed', content: seed ?? 'from the source' }),
    );
    return { given: [sandboxId], source: sandbox(sandboxId) };
  }
  const prepare: FanoutInput['source'] = {
    kind: 'prepare',
    body: {},
    put: [{ path: 'seed', content: { base64: Buffer.from(seed ?? 'seed').toString('base64') } }],
    commands: ['cat seed'],
    prompts: [],
    deadlineMs: preparationDeadlineMs,
    end: 'delete',
  };
  return { given: [], source: prepare };
}

/** The source of the batch, if it has one, and all sandboxes of a person, in the order of the sources. */
async function sourcesOf(account: Account, plan: BatchPlan) {
  if (!plan.sources) return sourceOf(account, plan);
  const given: string[] = [];
  let source: FanoutInput['source'];
  for (const [at, kind] of plan.sources.of.entries()) {
    if (kind === 'batch') {
      const own = await sourceOf(account, plan, seedOf(plan, at));
      source = own.source;
      given.push(...own.given);
    } else if (isOfPerson(kind)) given.push(await makeSource(account, plan, { at, kind }));
  }
  return { given, source };
}

export async function playBatch(
  account: Account,
  plan: BatchPlan,
  onGiven: (given: readonly string[]) => void,
): Promise<Told> {
  const { client, deployment, taskQueue, results, signal } = account;
  const batchId = plan.key;
  const workflowId = jobWorkflowId(deployment, batchId);
  const { given, source } = await sourcesOf(account, plan);
  onGiven(given);
  account.watch(plan.key, (tag) => tag.workflowId === workflowId || tag.workflowId.startsWith(`${workflowId}/`));
  const input: FanoutInput = {
    deployment,
    batchId,
    source,
    timing: plan.tight ? { ...timing, ...tightLease } : timing,
    pace: {
      ...{ reportEveryMs: 100, checkChunksEveryMs: 2_000, recoverEveryMs: 500 },
      // A run of the batch then lasts about a second.
      ...(plan.tight && { maxMessages: 1 }),
    },
    policy: {
      concurrency: plan.concurrency,
      stopAt: { kind: 'go_on' },
      retries: plan.retries,
      itemDeadlineMs,
      deadlineMs: batchDeadlineMs,
      budgetSeconds: null,
      type: null,
      end: plan.end,
      ttlSeconds: 600,
      onUnknownOutcome: 'abandon',
      ...(plan.sources && { sourcesAtOnce: plan.sources.atOnce }),
      ...(plan.alike && { breaker: plan.alike.breaker }),
      ...(plan.alike?.by === 'check' && { checks: [itemCheckOf(plan, account.notes)] }),
    },
  };
  const items = Array.from({ length: plan.items }, (_, at) => ({
    id: `item-${at}`,
    prompts: [{ prompt: itemText(plan, at), ...(plan.alike?.by === 'provider' && { provider: missingProvider }) }],
    source: namedSource(plan, at, { given, notes: account.notes }),
  }));
  await persist(signal, () => submitFanout(client, input, items, { taskQueue, results }));
  const over = new AbortController();
  const holds: Hold[] = [];
  const deciding = decideHolds(account, plan, over.signal, holds);
  const awaitEnd = () => persist(signal, () => awaitFanout(client, input, { lookEveryMs: 500 }), batchDeadlineMs * 2);
  const first = await awaitEnd().finally(() => over.abort());
  await deciding;
  const ends = [await endOf(account, first)];
  const result = (await resumeFailed(account, plan, first)) ? await awaitEnd() : first;
  if (result !== first) ends.push(await endOf(account, result));
  const lines = ends.at(-1)?.items ?? [];
  const told = lines.flatMap(({ job }) => job ?? []).map(tellingOf);
  return {
    job: plan.key,
    workflowId,
    outcome: result.outcome,
    error: result.error,
    jobs: told.flatMap(({ jobs }) => jobs),
    left: [
      ...ends.flatMap(({ left }) => left).flatMap((one) => [one.sandboxId ?? [], one.sandboxName ?? []].flat()),
      ...told.flatMap(({ left }) => left),
    ],
    saysArchived: told.flatMap(({ saysArchived }) => saysArchived),
    saysDeleted: told.flatMap(({ saysDeleted }) => saysDeleted),
    given,
    othersPromptIds: [],
    isTerminated: false,
    holds,
    ends,
    byClass: result.counts.byClass ?? {},
  };
}

/** Reads the newest result of each item, which a resume replaces. */
async function endOf(
  { results }: Account,
  { outcome, error, sources, left, resultsRef }: FanoutResult,
): Promise<BatchEnd> {
  const text = resultsRef === null ? '' : (await results.get(resultsRef)).toString('utf8').trim();
  const lines = text.split('\n').filter((line) => line !== '');
  const items = lines.map((line) => JSON.parse(line) as ItemResult);
  return { atMs: Date.now(), outcome, error, sources, left, items };
}

/** A person who resumes a batch of several sources. @returns whether it runs again */
async function resumeFailed(account: Account, plan: BatchPlan, { outcome }: FanoutResult): Promise<boolean> {
  const { client, deployment, taskQueue, signal, notes } = account;
  const hasFailed = outcome === 'partly_failed' || outcome === 'source_failed';
  if (!plan.sources || plan.sources.afterwards === 'leave' || !hasFailed) return false;
  if (plan.sources.afterwards === 'mend') mendPreparations(plan, notes);
  const batch = { deployment, batchId: plan.key };
  await persist(signal, () => resumeFanout(client, batch, { taskQueue })).catch((error: unknown) => {
    // The answer to the first attempt was lost.
    if (!(error instanceof SandflowError && error.code === 'fanout_runs')) throw error;
  });
  return true;
}

/** Items of the batch that have, or had, a fork. */
async function startedItems({ books }: Account, workflowId: string): Promise<number> {
  const ofItem = new RegExp(`^${workflowId}-\\w+-i([0-9a-z]+)-\\d+$`);
  return new Set((await books()).sandboxes.flatMap(({ name }) => ofItem.exec(name)?.[1] ?? [])).size;
}

/** A person who looks all the time, and decides about the batch whenever it is held and none of its items runs. */
async function decideHolds(account: Account, plan: BatchPlan, over: AbortSignal, holds: Hold[]): Promise<void> {
  const { client, deployment, taskQueue, signal } = account;
  if (!plan.alike) return;
  const batch = { deployment, batchId: plan.key };
  while (!over.aborted && !signal.aborted) {
    await sleep(300);
    const progress = await fanoutProgress(client, batch).catch(() => undefined);
    const { held, counts, outcome } = progress ?? {};
    const isNew = held !== undefined && held.since !== holds.at(-1)?.since;
    if (!isNew || outcome !== null || counts?.running !== 0) continue;
    const started = await startedItems(account, jobWorkflowId(deployment, plan.key));
    holds.push({ since: held.since, by: held.by, code: held.code, count: held.count, started });
    if (plan.alike.whenHeld === 'cancel')
      await persist(signal, () => cancelFanout(client, batch)).catch(() => undefined);
    else {
      if (plan.alike.whenHeld === 'mend') mendItemCheck(plan, account.notes);
      // The batch may reach its deadline meanwhile.
      await persist(signal, () => resumeFanout(client, batch, { taskQueue })).catch(() => undefined);
    }
  }
}
