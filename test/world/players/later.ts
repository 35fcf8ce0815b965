/** What happens to the sandboxes of a job after it has told its end. */
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { followUpOf } from '../../../src/workflow-client/jobs/follow-up.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import type { JobResult } from '../../../workflows/index.js';
import type { Trouble } from '../plan/plan.js';
import { type Account, persist } from './account.js';
import { runCleanup } from './cleanup.js';
import { followUpText } from './others.js';
import type { Told } from './told.js';
import type { Traces } from './traces.js';

type Later = Extract<Trouble, { readonly kind: 'later' }>;

/** @returns true if it happened: some ends leave nothing to continue or to clean up */
export async function happenLater(account: Account, trouble: Later, told: Told, traces: Traces): Promise<boolean> {
  const { key, brings, at } = trouble;
  const owned = (name: string) => `{name: ${JSON.stringify(`${name}*`)}, owned: closed}`;
  const ofJob = owned(`${told.workflowId}-`);
  if (brings === 'orphans') {
    if (!traces.forks.some(({ job }) => job === at.job)) return false;
    await runCleanup(account, key, { match: ofJob, action: 'stop' });
    return true;
  }
  const sandboxId = told.jobs[0]?.sandboxId;
  if (told.outcome !== 'completed' || sandboxId == null || traces.acted.has(sandboxId)) return false;
  if (!(await keep(account, trouble, sandboxId, traces))) return false;
  await runCleanup(account, `${key}-first`, { match: ofJob, action: 'stop' });
  await runCleanup(account, `${key}-second`, { match: ofJob, action: 'delete-sandbox' });
  return true;
}

/** Continues the job in its sandbox, which the continuation keeps. */
async function keep(account: Account, { key, at }: Later, sandboxId: string, traces: Traces): Promise<boolean> {
  const { client, deployment, taskQueue, results, signal } = account;
  const workflowId = jobWorkflowId(deployment, key);
  account.watch(key, (tag) => tag.workflowId === workflowId);
  const given = { newJobId: key, prompt: followUpText(key), end: 'keep' } as const;
  const job = { deployment, jobId: at.job };
  const earlier = await persist(signal, () => followUpOf(client, job, given)).catch(() => undefined);
  if (earlier === undefined) return false;
  await persist(signal, () => startJob(client, earlier.input, { taskQueue, results }));
  const handle = client.workflow.getHandle(workflowId);
  const { outcome } = await persist(signal, () => handle.result() as Promise<JobResult>, 120_000);
  traces.resumed.set(sandboxId, Date.now());
  traces.taken.add(sandboxId);
  if (outcome !== 'completed') return false;
  traces.kept.push({ job: at.job, sandboxId });
  return true;
}
