/** Other people, who act on the sandboxes of a job, and send it messages. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { anySignal, timeLimit } from '../../../src/os/any-signal.js';
import { promptJob } from '../../../src/workflow-client/jobs/job-client.js';
import type { ProxiedCall } from '../../slow/matrix/faults/fault-proxy.js';
import type { AroundCall } from '../stack/wire.js';
import { type Account, script, untilState } from './account.js';
import { changeArchived, forkByHand } from './by-hand.js';
import { leaseForSeconds } from './lease.js';
import { bring } from './newcomer.js';
import type { Traces } from './traces.js';

/** Each has a name of its own: a cleanup of one must not match another. */
export const othersNameOf = (sandboxId: string) => `renamed by somebody else ${sandboxId}`;
export const followUpText = (key: string) => script(`echo follow-up ${key}`);
/** Long enough that two of them do not fit into one payload of Temporal. */
const longFollowUpText = (key: string) => `${followUpText(key)}\n${'long '.repeat(300_000)}`;
/** How long somebody waits for a sandbox that they stop and resume, in ms. */
const restartMs = 3_000;

/** @param sandboxId the sandbox that the call concerns, or the newest of the job */
export async function act(
  account: Account,
  trouble: AroundCall,
  {
    sandboxId,
    call,
    text,
  }: { readonly sandboxId: string | undefined; readonly call: ProxiedCall; readonly text: string },
  traces: Traces,
): Promise<void> {
  if (trouble.kind === 'message') return send(account, trouble, call, traces);
  if (sandboxId === undefined) return;
  if (trouble.kind === 'newcomer') return bring(account, trouble, sandboxId, traces).catch(() => undefined);
  await actOn(account, trouble, { sandboxId, text }, traces);
}

async function send(
  { client, deployment, signal }: Account,
  { key, at, message, afterMs }: Extract<AroundCall, { readonly kind: 'message' }>,
  call: ProxiedCall,
  traces: Traces,
): Promise<void> {
  const jobId = jobWorkflowId(deployment, at.job);
  const isItem = call.workflowId.startsWith(`${jobId}/`);
  const isStop = call.workflowId.startsWith('sandbox-stop/') && message === 'cancel';
  if (isItem ? message !== 'terminate' : call.workflowId !== jobId && !isStop) return;
  const handle = client.workflow.getHandle(call.workflowId);
  const prompt = async (text: string) => {
    traces.followUps.add(text);
    await promptJob(client, { deployment, jobId: at.job }, { prompt: text });
  };
  const messages = {
    prompt: () => prompt(followUpText(key)),
    long_prompt: () => prompt(longFollowUpText(key)),
    cancel: async () => void (await handle.cancel()),
    terminate: async () => {
      traces.terminated.add(call.workflowId);
      await handle.terminate('by a person of the world');
    },
  };
  if (afterMs !== undefined) {
    void sleep(afterMs, undefined, { signal })
      .then(messages[message])
      .catch(() => undefined);
    return;
  }
  const sent = messages[message]().catch(() => undefined);
  // The call waits for it, and the job for the call.
  if (message === 'cancel' || message === 'terminate') await sent;
}

async function actOn(
  account: Account,
  trouble: Extract<AroundCall, { readonly kind: 'act' }>,
  { sandboxId, text }: { readonly sandboxId: string; readonly text: string },
  traces: Traces,
): Promise<void> {
  const { api, signal } = account;
  const acts = {
    fork: () => forkByHand(account, trouble.at.job, sandboxId, traces),
    change: () => changeArchived(account, sandboxId, traces),
    lease: () => leaseForSeconds(account, sandboxId, trouble.key, traces),
    stop: async () => {
      traces.stopped.push(sandboxId);
      await api.stopSandbox(sandboxId);
      traces.taken.add(sandboxId);
    },
    resume: async () => {
      const { state } = (await api.getSandbox(sandboxId)).sandbox;
      await api.resumeSandbox(sandboxId);
      traces.resumed.set(sandboxId, Date.now());
      if (state === 'archiving' || state === 'archived') traces.keeps.set(sandboxId, Date.now());
      traces.taken.add(sandboxId);
    },
    restart: async () => {
      traces.taken.add(sandboxId);
      traces.stopped.push(sandboxId);
      await api.stopSandbox(sandboxId);
      const within = anySignal([signal, timeLimit(restartMs)]);
      await untilState({ api, signal: within }, sandboxId, 'archived');
      await api.resumeSandbox(sandboxId);
      await untilState({ api, signal: within }, sandboxId, 'ready');
      traces.resumed.set(sandboxId, Date.now());
    },
    rename: async () => {
      const { name } = (await api.getSandbox(sandboxId)).sandbox;
      await api.updateSandbox(sandboxId, { name: othersNameOf(sandboxId) });
      if (!traces.renamed.has(sandboxId)) traces.renamed.set(sandboxId, name);
    },
    prompt: async () => {
      const { promptId } = await api.sendPrompt(sandboxId, { prompt: text, new: true });
      if (promptId != null) traces.promptIds.add(promptId);
    },
    delete: async () => {
      await api.deleteSandbox(sandboxId);
      traces.deleted.add(sandboxId);
      traces.taken.add(sandboxId);
    },
    'auto-stop': async () => {
      await api.updateSandbox(sandboxId, { ttlSeconds: 7_200 });
    },
  } as const;
  traces.acted.add(sandboxId);
  // A refused act has no effect. One whose answer is lost may have one.
  await acts[trouble.act]().catch(() => {
    const mayTake: readonly string[] = ['delete', 'stop', 'resume', 'restart'];
    if (mayTake.includes(trouble.act)) traces.taken.add(sandboxId);
    if (trouble.act === 'restart') traces.resumed.set(sandboxId, Date.now());
  });
}
