/** A cleanup of sandboxes that people left. */
import { cleanupId } from '../../../src/addresses/addresses.js';
import { readPolicy } from '../../../src/retention/index.js';
import { startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import type { CleanupReport, CleanupSummary } from '../../../workflows/index.js';
import type { CleanupPlan } from '../plan/plan.js';
import { type Account, archivedByPerson, madeByPerson, persist, timing } from './account.js';
import type { Told } from './told.js';

interface Rule {
  /** As a policy has it. */
  readonly match: string;
  readonly action: CleanupPlan['action'];
}

const policyFor = (key: string, { match, action }: Rule) => `name: ${key}
limits: {maxActions: 1000, maxPercent: 100}
rules:
  - rule: all of ${key}
    match: ${match}
    action: ${action}
`;

/** A cleanup has no deadline of its own: its user cancels it. */
export const patienceMs = 90_000;

/** Runs a cleanup of one rule. Its calls are those of the job `key`. */
export async function runCleanup(account: Account, key: string, rule: Rule) {
  const { client, deployment, taskQueue, results, signal } = account;
  const workflowId = `${cleanupId(deployment, key)}-`;
  account.watch(key, (tag) => tag.workflowId.startsWith(workflowId));
  const settings = { settleMs: 0, actionDeadlineMs: 30_000, timing };
  const policy = readPolicy(policyFor(key, rule), key);
  const { workflowId: startedId } = await persist(signal, () =>
    startCleanup(client, { deployment, taskQueue, policy, mode: 'apply', settings }),
  );
  const handle = client.workflow.getHandle(startedId);
  const timer = setTimeout(() => void handle.cancel().catch(() => undefined), patienceMs);
  try {
    const summary = await persist(signal, () => handle.result() as Promise<CleanupSummary>, 240_000);
    const report =
      summary.reportRef === null
        ? undefined
        : (JSON.parse((await results.get(summary.reportRef)).toString('utf8')) as CleanupReport);
    return { workflowId, outcome: summary.outcome, report };
  } finally {
    clearTimeout(timer);
  }
}

export async function playCleanup(
  account: Account,
  { key, action, sandboxes }: CleanupPlan,
  onGiven: (given: readonly string[]) => void,
): Promise<Told> {
  const make = action === 'stop' ? madeByPerson : archivedByPerson;
  const given = await Promise.all(Array.from({ length: sandboxes }, (_, at) => make(account, `${key}-${at}`)));
  onGiven(given);
  const { workflowId, outcome, report } = await runCleanup(account, key, { match: `{name: "${key}-*"}`, action });
  const didTo = (sandboxId: string, what: string) =>
    report?.plan?.entries.some((one) => one.sandboxId === sandboxId && one.results.some((of) => of.outcome === what));
  return {
    job: key,
    workflowId,
    outcome,
    jobs: [],
    // What the cleanup did not do is in its report; the sandboxes are a person's.
    left: given,
    saysArchived: given.filter((id) => didTo(id, 'stopped')),
    saysDeleted: given.filter((id) => didTo(id, 'deleted')),
    given,
    othersPromptIds: [],
    isTerminated: false,
  };
}
