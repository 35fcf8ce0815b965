/**
 * The job as plain Temporal workflows: by signals, and by activities that poll. They rely on Temporal alone: no
 * idempotency keys, no search for what a lost answer has done, no polls in case webhooks are lost, no deadline.
 */
import { condition, defineSignal, executeChild, proxyActivities, setHandler } from '@temporalio/workflow';
import type { PlainActivities } from './activities.js';

export interface PlainJob {
  readonly workflow: 'signalledJob' | 'pollingJob';
  /** Also the name of the sandbox, and the id of the workflow. */
  readonly name: string;
  readonly prompt: string;
  /** Forks this sandbox. Default: creates one. */
  readonly sourceId?: string;
}

export interface SandboxSignal {
  readonly type: string;
  readonly sandboxId: string;
}

export const sandboxSignal = defineSignal<[SandboxSignal]>('sandbox');

const { create, fork, prompt, stop, confirm } = proxyActivities<PlainActivities>({ startToCloseTimeout: '30 seconds' });
const { promptToEnd, awaitUsable, awaitIdle, awaitArchived } = proxyActivities<PlainActivities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
});

export async function signalledJob(job: PlainJob): Promise<void> {
  const seen = new Set<string>();
  setHandler(sandboxSignal, ({ type, sandboxId }) => void seen.add(`${type} ${sandboxId}`));
  const id = await obtain(job);
  await condition(() => seen.has(`sandbox.ready ${id}`));
  await promptToEnd(id, job.prompt);
  await stop(id);
  await condition(() => seen.has(`sandbox.archived ${id}`));
  await confirm(id);
}

export async function pollingJob(job: PlainJob): Promise<void> {
  const id = await obtain(job);
  await awaitUsable(id);
  await prompt(id, job.prompt);
  await awaitIdle(id);
  await stop(id);
  await awaitArchived(id);
}

export interface PlainBatch extends Omit<PlainJob, 'name'> {
  readonly items: number;
}

/** As many children at once as the other peers have. */
const batchAtOnce = 50;

export async function plainBatch({ items, ...job }: PlainBatch): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items; index = next++) {
      const name = `item-${index}`;
      await executeChild(job.workflow, { workflowId: name, args: [{ ...job, name }] });
    }
  };
  await Promise.all(Array.from({ length: Math.min(items, batchAtOnce) }, lane));
}

function obtain({ name, sourceId }: PlainJob): Promise<string> {
  return sourceId === undefined ? create(name) : fork(sourceId, name);
}
