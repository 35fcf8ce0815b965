/** Other people, who act on the sandboxes of a job, and send it messages. */
import { jobWorkflowId } from '../../../src/contract/addresses.js';
import { promptJob } from '../../../src/temporal/jobs/client.js';
import type { ProxiedCall } from '../../matrix/faults/fault-proxy.js';
import type { AroundCall } from '../stack/wire.js';
import { type Account, script } from './account.js';

/** What others have done: what must remain of it, and what a job can no longer be held to. */
export interface Traces {
  /** Sandboxes that others stopped, resumed or deleted. */
  readonly taken: Set<string>;
  readonly resumed: Set<string>;
  readonly deleted: Set<string>;
  readonly renamed: Set<string>;
  readonly promptIds: Set<string>;
  /** Jobs that somebody cancelled or terminated, and follow-up prompts by their text. */
  readonly followUps: Set<string>;
}

export const createTraces = (): Traces => ({
  taken: new Set(),
  resumed: new Set(),
  deleted: new Set(),
  renamed: new Set(),
  promptIds: new Set(),
  followUps: new Set(),
});

export const othersName = 'renamed by somebody else';
export const followUpText = (key: string) => script(`echo follow-up ${key}`);

/** @param sandboxId the sandbox that the call concerns, or the newest of the job */
export async function act(
  { api, client, deployment }: Account,
  trouble: AroundCall,
  {
    sandboxId,
    call,
    text,
  }: { readonly sandboxId: string | undefined; readonly call: ProxiedCall; readonly text: string },
  traces: Traces,
): Promise<void> {
  if (trouble.kind === 'message') {
    const job = { deployment, jobId: trouble.at.job };
    const handle = client.workflow.getHandle(jobWorkflowId(deployment, trouble.at.job));
    if (call.workflowId !== handle.workflowId) return;
    // The call waits for it, and the job for the call.
    const sent = {
      prompt: async () => {
        const prompt = followUpText(trouble.key);
        traces.followUps.add(prompt);
        await promptJob(client, job, { prompt });
      },
      cancel: async () => void (await handle.cancel()),
      terminate: async () => void (await handle.terminate('by a person of the world')),
    }[trouble.message]();
    if (trouble.message === 'prompt') return void sent.catch(() => undefined);
    return sent.catch(() => undefined);
  }
  if (sandboxId === undefined) return;
  const acts = {
    stop: async () => {
      await api.stopSandbox(sandboxId);
      traces.taken.add(sandboxId);
    },
    resume: async () => {
      await api.resumeSandbox(sandboxId);
      traces.resumed.add(sandboxId);
      traces.taken.add(sandboxId);
    },
    rename: async () => {
      await api.updateSandbox(sandboxId, { name: othersName });
      traces.renamed.add(sandboxId);
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
  // A refused act has no effect. One whose answer is lost may have one.
  await acts[trouble.act]().catch(() => {
    if (trouble.act === 'delete' || trouble.act === 'stop' || trouble.act === 'resume') traces.taken.add(sandboxId);
  });
}
