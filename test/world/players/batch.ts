/** A user who runs a batch. */

import { setTimeout as sleep } from 'node:timers/promises';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { cancelFanout, fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import type { FanoutInput, ItemResult } from '../../../workflows/index.js';
import type { BatchPlan } from '../plan/plan.js';
import { type Account, archivedByPerson, madeByPerson, persist, script, timing } from './account.js';
import { itemCheckOf, mendItemCheck } from './checks.js';
import { missingProvider } from './run.js';
import { type Hold, type Told, tellingOf } from './told.js';

export const batchDeadlineMs = 120_000;
export const itemDeadlineMs = 60_000;
export const preparationDeadlineMs = 60_000;
/** How long an item works. */
export const itemSeconds = ({ tight }: Pick<BatchPlan, 'tight'>) => (tight ? 2 : 0);
/** Shorter than the batch, and longer than a worker is away that was killed. */
export const tightLease = { leaseLastsMs: 9_000, renewLeaseEveryMs: 4_000 };

/** The answer says from which state its fork began: the first line is the item, the others are the state. */
const itemText = (plan: BatchPlan, at: number) =>
  script(`sleep ${itemSeconds(plan)}; echo ${plan.key} ${at}; cat seed`);

async function sourceOf(account: Account, { source, key }: BatchPlan) {
  const sandbox = (sandboxId: string) => ({ kind: 'sandbox', sandboxId, allowStale: false }) as const;
  if (source === 'archived') {
    const sandboxId = await archivedByPerson(account, `person-${key}`);
    return { given: [sandboxId], source: sandbox(sandboxId) };
  }
  if (source === 'snapshot') {
    const sandboxId = await archivedByPerson(account, `person-${key}`);
    const from = `snapshot-of-${key}`;
    await persist(account.signal, () => account.api.updateSandbox(sandboxId, { snapshotName: from }));
    return { given: [sandboxId], source: { kind: 'snapshot', from, body: {} } as const };
  }
  if (source === 'usable') {
    const sandboxId = await madeByPerson(account, `person-${key}`);
    await persist(account.signal, () => account.api.writeFile(sandboxId, { path: 'seed', content: 'from the source' }));
    return { given: [sandboxId], source: sandbox(sandboxId) };
  }
  const prepare: FanoutInput['source'] = {
    kind: 'prepare',
    body: {},
    put: [{ path: 'seed', content: { base64: Buffer.from('seed').toString('base64') } }],
    commands: ['cat seed'],
    prompts: [],
    deadlineMs: preparationDeadlineMs,
    end: 'delete',
  };
  return { given: [], source: prepare };
}

export async function playBatch(
  account: Account,
  plan: BatchPlan,
  onGiven: (given: readonly string[]) => void,
): Promise<Told> {
  const { client, deployment, taskQueue, results, signal } = account;
  const batchId = plan.key;
  const workflowId = jobWorkflowId(deployment, batchId);
  const { given, source } = await sourceOf(account, plan);
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
      ...(plan.alike && { breaker: plan.alike.breaker }),
      ...(plan.alike?.by === 'check' && { checks: [itemCheckOf(plan, account.notes)] }),
    },
  };
  const items = Array.from({ length: plan.items }, (_, at) => ({
    id: `item-${at}`,
    prompts: [{ prompt: itemText(plan, at), ...(plan.alike?.by === 'provider' && { provider: missingProvider }) }],
  }));
  await persist(signal, () => submitFanout(client, input, items, { taskQueue, results }));
  const over = new AbortController();
  const holds: Hold[] = [];
  const deciding = decideHolds(account, plan, over.signal, holds);
  const result = await persist(
    signal,
    () => awaitFanout(client, input, { lookEveryMs: 500 }),
    batchDeadlineMs * 2,
  ).finally(() => over.abort());
  await deciding;
  const text = result.resultsRef === null ? '' : (await results.get(result.resultsRef)).toString('utf8').trim();
  const told = text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => (JSON.parse(line) as ItemResult).job ?? [])
    .map(tellingOf);
  return {
    job: plan.key,
    workflowId,
    outcome: result.outcome,
    error: result.error,
    jobs: told.flatMap(({ jobs }) => jobs),
    left: [
      ...result.left.flatMap(({ sandboxId, sandboxName }) => [sandboxId ?? [], sandboxName ?? []].flat()),
      ...told.flatMap(({ left }) => left),
    ],
    saysArchived: told.flatMap(({ saysArchived }) => saysArchived),
    saysDeleted: told.flatMap(({ saysDeleted }) => saysDeleted),
    given,
    othersPromptIds: [],
    isTerminated: false,
    holds,
    byClass: result.counts.byClass ?? {},
  };
}

/** Items of the batch that have, or had, a fork. */
async function startedItems({ books }: Account, workflowId: string): Promise<number> {
  const ofItem = new RegExp(`^${workflowId}-\\w+-i(\\d+)-\\d+$`);
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
