/** Somebody who arrives while a job works: runs a job in its sandbox, or cleans the sandbox up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanupId, jobWorkflowId } from '../../../src/addresses/addresses.js';
import { ApiError } from '../../../src/client/index.js';
import { readPolicy } from '../../../src/retention/index.js';
import { startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import type { CleanupReport, CleanupSummary, JobResult } from '../../../workflows/index.js';
import type { Trouble } from '../plan/plan.js';
import { type Account, persist, timing } from './account.js';
import { promptText } from './run.js';
import { type Told, tellingOf } from './told.js';
import type { Traces } from './traces.js';

type Newcomer = Extract<Trouble, { readonly kind: 'newcomer' }>;

/**
 * The call of the job waits until the newcomer works, or at most so long, in ms: what the newcomer does meanwhile, it
 * does while the job works.
 */
const waitMs = 6_000;
/** Calls by which a newcomer shows that it works. */
const working: readonly string[] = ['sendPrompt', 'runCommand'];
/** A cleanup has no deadline of its own: its user cancels it. */
const patienceMs = 20_000;

export async function bring(account: Account, trouble: Newcomer, sandboxId: string, traces: Traces): Promise<void> {
  const coming =
    trouble.brings === 'cleanup' ? cleanUp(account, trouble, sandboxId) : runIn(account, trouble, sandboxId, traces);
  let isOver = false;
  traces.newcomers.push(
    coming.then((told) => {
      if (!isOver && trouble.brings === 'cleanup' && (told?.saysDeleted.length ?? 0) > 0) {
        traces.cleaned.push({ job: trouble.at.job, sandboxId });
      }
      return told;
    }),
  );
  const untilMs = Date.now() + waitMs;
  const ended = coming.then(
    () => true,
    () => true,
  );
  const works = () => account.calls().some(({ job, call }) => job === trouble.key && working.includes(call.endpoint));
  while (Date.now() < untilMs && !works() && !(await Promise.race([ended, sleep(50)])));
  isOver = true;
}

async function runIn(account: Account, { key, brings }: Newcomer, sandboxId: string, traces: Traces): Promise<Told> {
  const { client, deployment, taskQueue, results, signal } = account;
  const workflowId = jobWorkflowId(deployment, key);
  account.watch(key, (tag) => tag.workflowId === workflowId);
  const input = {
    ...{ deployment, jobId: key, source: { kind: 'existing', sandboxId } as const, timing },
    // A command does not show in the record of the sandbox.
    prompts: brings === 'run' ? [{ prompt: promptText(key, 0, 2) }] : [],
    commands: brings === 'command' ? ['sleep 8'] : [],
    end: 'keep' as const,
    onUnknownOutcome: 'abandon' as const,
    deadlineMs: 30_000,
  };
  await persist(signal, () => startJob(client, input, { taskQueue, results }));
  const handle = client.workflow.getHandle(workflowId);
  const result = await persist(signal, () => handle.result() as Promise<JobResult>, 120_000);
  // It resumes an archived sandbox, and leaves it running.
  traces.resumed.set(sandboxId, Date.now());
  traces.taken.add(sandboxId);
  const base = { job: key, workflowId, given: [sandboxId], othersPromptIds: [], isTerminated: false };
  return { ...base, ...tellingOf(result), outcome: result.outcome };
}

async function cleanUp(account: Account, { key }: Newcomer, sandboxId: string): Promise<Told | undefined> {
  const { client, api, deployment, taskQueue, results, signal } = account;
  const found = await api.getSandbox(sandboxId).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  // The job has deleted its sandbox meanwhile.
  if (found === undefined) return undefined;
  const { sandbox } = found;
  const states = JSON.stringify([...new Set([sandbox.state, 'archived'])]);
  const policy = readPolicy(
    `name: ${key}\nlimits: {maxActions: 1000, maxPercent: 100}\nrules:\n  - rule: one\n    match: {name: ${JSON.stringify(sandbox.name)}, state: ${states}}\n    action: delete-sandbox\n`,
    key,
  );
  account.watch(key, (tag) => tag.workflowId.startsWith(`${cleanupId(deployment, key)}-`));
  const settings = { settleMs: 0, actionDeadlineMs: 10_000, timing };
  const { workflowId } = await persist(signal, () =>
    startCleanup(client, { deployment, taskQueue, policy, mode: 'apply', settings }),
  );
  const handle = client.workflow.getHandle(workflowId);
  const timer = setTimeout(() => void handle.cancel().catch(() => undefined), patienceMs);
  const ending = persist(signal, () => handle.result() as Promise<CleanupSummary>);
  const summary = await ending.finally(() => clearTimeout(timer));
  const report =
    summary.reportRef === null
      ? undefined
      : (JSON.parse((await results.get(summary.reportRef)).toString('utf8')) as CleanupReport);
  const isDeleted = report?.plan?.entries.some(
    (one) => one.sandboxId === sandboxId && one.results.some(({ outcome }) => outcome === 'deleted'),
  );
  return {
    ...{ job: key, workflowId, outcome: summary.outcome, jobs: [], left: [sandboxId], saysArchived: [] },
    ...{ saysDeleted: isDeleted ? [sandboxId] : [], given: [sandboxId], othersPromptIds: [], isTerminated: false },
  };
}
