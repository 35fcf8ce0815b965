/** The workflows of the worker: one of your own, and those of sandflow. Temporal bundles this file. */
import { proxyActivities, setHandler } from '@temporalio/workflow';
import type { SandflowActivities } from 'sandflow/activities';
import { defaultTiming, EventInbox, ownSandbox, sandboxEventSignal, until } from 'sandflow/waiting';

export * from 'sandflow/workflows';

const { createSandbox, getSandbox, runCommand, stopSandbox } = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
});

export interface Answer {
  readonly sandboxId: string;
  readonly output: string;
  /** What ended each wait: `webhook`, or `safety_poll` if no webhook arrived. */
  readonly wakes: readonly string[];
}

/** Runs a command in a new sandbox, and ends when its work is archived. Start it with the id `jobWorkflowId(deployment, id)`. */
export async function runInSandbox(command: string): Promise<Answer> {
  const inbox = new EventInbox();
  setHandler(sandboxEventSignal, (event) => inbox.record(event));
  const wakes: string[] = [];
  const shared = { inbox, timing: defaultTiming, onWake: ({ by }: { by: string }) => wakes.push(by) };

  // The name leads the webhooks of the sandbox to this workflow; `call` has the keys that make a repetition safe.
  const { name, call } = ownSandbox('main');
  const beforeCreate = inbox.mark();
  const sandbox = await createSandbox({ ...call, body: { name, ttlSeconds: 600 } });
  await until(sandbox.id, {
    ...shared,
    waitedFor: 'ready',
    wakeOn: ['sandbox.ready', 'sandbox.error'],
    since: beforeCreate,
    read: async () => {
      const state = (await getSandbox(sandbox.id))?.state ?? 'cancelled';
      if (state === 'error' || state === 'cancelled')
        throw new Error(`The sandbox ${sandbox.id} is in state ${state}.`);
      return state === 'ready' || undefined;
    },
  });
  const ran = await runCommand({ sandboxId: sandbox.id, body: { command } });

  const beforeStop = inbox.mark();
  await stopSandbox({ sandboxId: sandbox.id });
  await until(sandbox.id, {
    ...shared,
    waitedFor: 'archived',
    wakeOn: ['sandbox.archived'],
    since: beforeStop,
    read: async () => (await getSandbox(sandbox.id))?.state === 'archived' || undefined,
  });
  return { sandboxId: sandbox.id, output: ran.stdout, wakes };
}
