/** A user who runs one job. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { TerminatedFailure } from '@temporalio/common';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { jobProgress, resolveJob, startJob } from '../../../src/workflow-client/jobs/job-client.js';
import type { JobInput, JobResult } from '../../../workflows/index.js';
import type { RunPlan } from '../plan/plan.js';
import { type Account, archivedByPerson, madeByPerson, persist, script, timing } from './account.js';
import { checksOf } from './checks.js';
import { type Told, tellingOf } from './told.js';

/** The texts are unique in the world, so that an accepted prompt belongs to one step of one job. */
export const promptText = (job: string, at: number, workSeconds: number, answerKb = 0) => {
  const works = workSeconds > 0 ? `sleep ${workSeconds}; ` : '';
  const talks = answerKb > 0 ? `; head -c ${answerKb * 1_024} /dev/zero | tr '\\0' x` : '';
  return script(`${works}echo ${job} ${at}${talks}`);
};

/** Longer than a worker is away that was killed. */
export const shortLease = { leaseLastsMs: 12_000, renewLeaseEveryMs: 4_000 };

/** It is not configured in the service of a world, which refuses each prompt for it. */
export const missingProvider = 'pi';

/** Its answers differ, although the texts are equal. */
const equalText = (job: string, workSeconds: number) =>
  script(`sleep ${workSeconds}; echo one >> ${job}.count; echo ${job} $(wc -l < ${job}.count)`);

/** Somebody else works there. */
async function sharedSandbox(account: Account, name: string) {
  const sandboxId = await madeByPerson(account, name, 600);
  const prompt = script('sleep 15; echo theirs');
  const { promptId } = await persist(account.signal, () => account.api.sendPrompt(sandboxId, { prompt, new: true }));
  return { sandboxId, othersPromptIds: promptId == null ? [] : [promptId] };
}

async function givenTo(account: Account, { source, key }: RunPlan) {
  if (source === 'shared') return sharedSandbox(account, `person-${key}`);
  if (source !== 'archived') return { sandboxId: undefined, othersPromptIds: [] };
  return { sandboxId: await archivedByPerson(account, `person-${key}`), othersPromptIds: [] };
}

function promptsOf(plan: RunPlan): JobInput['prompts'] {
  if (plan.fails === 'agent') return [{ prompt: script(`echo ${plan.key} fails; exit 3`) }];
  return Array.from({ length: plan.prompts }, (_, at) => ({
    prompt: plan.equalPrompts
      ? equalText(plan.key, plan.workSeconds)
      : promptText(plan.key, at, plan.workSeconds, plan.answerKb),
    ...(plan.fails === 'provider' && { provider: missingProvider }),
  }));
}

function inputOf(plan: RunPlan, { sourceId, notes }: Account, given: string | undefined): Partial<JobInput> {
  const { key, source, setup } = plan;
  const files = plan.collect ? ['out.txt'] : [];
  return {
    source:
      given !== undefined
        ? { kind: 'existing', sandboxId: given }
        : source === 'fork'
          ? { kind: 'fork', sandboxId: sourceId }
          : { kind: 'create', body: setup ? { setupScript: 'true' } : {} },
    waitFor: plan.waitFor,
    put: plan.put ? [{ path: 'in.txt', content: { base64: Buffer.from(key).toString('base64') } }] : [],
    commands: [
      ...Array.from({ length: plan.commands }, (_, at) => `sleep ${plan.commandSeconds}; echo ${key} ${at} >> out.txt`),
      ...(plan.fails === 'command' ? ['exit 3'] : []),
    ],
    prompts: promptsOf(plan),
    ...checksOf(plan, notes),
    conversations: plan.equalPrompts ? 'one' : plan.conversations,
    collect: plan.commands > 0 ? files : [],
    // Whoever shares a sandbox with others does not end it.
    end: source === 'shared' ? 'keep' : plan.end,
    onUnknownOutcome: plan.onUnknown === 'abandon' ? 'abandon' : 'wait',
    deadlineMs: plan.deadlineMs,
    ttlSeconds: plan.ttlSeconds,
    timing: plan.shortLease ? { ...timing, ...shortLease } : timing,
  };
}

/** A person who looks every few seconds, and abandons or repeats a call whose outcome is unknown. */
async function decideForIt(account: Account, { key, onUnknown }: RunPlan, isOver: () => boolean): Promise<void> {
  const job = { deployment: account.deployment, jobId: key };
  const action = onUnknown === 'resend' ? 'resend' : 'abandon';
  while (!isOver()) {
    await sleep(3_000, undefined, { signal: account.signal }).catch(() => undefined);
    if (isOver() || account.signal.aborted) return;
    const blocked = await jobProgress(account.client, job).then(
      (progress) => progress.blocked,
      () => null,
    );
    if (blocked?.reason === 'outcome_unknown') {
      await resolveJob(account.client, job, { action }).catch(() => undefined);
    }
  }
}

export async function playRun(
  account: Account,
  plan: RunPlan,
  onGiven: (given: readonly string[]) => void,
): Promise<Told> {
  const { client, deployment, taskQueue, results, signal } = account;
  const jobId = plan.key;
  const workflowId = jobWorkflowId(deployment, jobId);
  const { sandboxId: given, othersPromptIds } = await givenTo(account, plan);
  onGiven(given === undefined ? [] : [given]);
  account.watch(plan.key, (tag) => tag.workflowId === workflowId);
  const input = { ...inputOf(plan, account, given), deployment, jobId };
  const base = { job: plan.key, workflowId, given: given === undefined ? [] : [given], othersPromptIds };
  await persist(signal, () => startJob(client, input, { taskQueue, results }));
  let isOver = false;
  if (plan.onUnknown !== 'abandon') void decideForIt(account, plan, () => isOver);
  try {
    const handle = client.workflow.getHandle(workflowId);
    const result = await persist(signal, () => handle.result() as Promise<JobResult>, 240_000);
    return { ...base, ...tellingOf(result), outcome: result.outcome, isTerminated: false };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure)) throw error;
    const nothing = { jobs: [], left: [], saysArchived: [], saysDeleted: [] };
    return { ...base, ...nothing, outcome: 'terminated', isTerminated: true };
  } finally {
    isOver = true;
  }
}
