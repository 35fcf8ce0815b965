import { proxyActivities, setHandler } from '@temporalio/workflow';
import type { SandflowActivities } from '../../../../activities/index.js';
import {
  defaultTiming,
  EventInbox,
  ownPrompt,
  ownSandbox,
  sandboxEventSignal,
  until,
} from '../../../../workflows/waiting.js';

export * from '../../../../workflows/index.js';

const sandflow = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '60 seconds',
  heartbeatTimeout: '10 seconds',
});
const own = proxyActivities<{ label(name: string): Promise<string> }>({ startToCloseTimeout: '10 seconds' });

/** Creates a sandbox, waits until it is usable, and prompts it. Start it with the id `jobWorkflowId(deployment, id)`. */
export async function review() {
  const inbox = new EventInbox();
  setHandler(sandboxEventSignal, (event) => inbox.record(event));
  const { name, call } = ownSandbox('main');
  const since = inbox.mark();
  const body = { name, ttlSeconds: 1_800 };
  const sandbox = await sandflow.createSandbox({ ...call, body });
  const state = await until(sandbox.id, {
    inbox,
    since,
    waitedFor: 'usable',
    wakeOn: ['sandbox.ready', 'sandbox.error'],
    timing: defaultTiming,
    read: async () => {
      const seen = await sandflow.getSandbox(sandbox.id);
      return ['ready', 'idle', 'error', 'cancelled'].find((end) => end === (seen?.state ?? 'cancelled'));
    },
  });
  if (state === 'error' || state === 'cancelled') return { sandboxId: sandbox.id, label: null, prompt: null };
  const prompt = await sandflow.sendPrompt(ownPrompt('review', { sandbox, prompt: 'Review the last change.' }));
  return { sandboxId: sandbox.id, label: await own.label(name), prompt };
}
