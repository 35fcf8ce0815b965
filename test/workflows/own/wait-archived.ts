/** A workflow as a user might write it: waits until a sandbox is archived. */
import { proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { SandflowActivities } from '../../../activities/index.js';
import { defaultTiming, EventInbox, sandboxEventSignal, until, type Wake } from '../../../workflows/waiting.js';

const { getSandbox } = proxyLocalActivities<SandflowActivities>({ startToCloseTimeout: '30 seconds' });

export async function waitArchived(sandboxId: string): Promise<{ state: string; wakes: readonly Wake[] }> {
  const inbox = new EventInbox();
  setHandler(sandboxEventSignal, (event) => inbox.record(event));
  const wakes: Wake[] = [];
  const state = await until(sandboxId, {
    inbox,
    waitedFor: 'archived',
    wakeOn: ['sandbox.archived'],
    since: inbox.mark(),
    read: async () => {
      const seen = await getSandbox(sandboxId);
      return seen?.state === 'archived' ? seen.state : undefined;
    },
    readFirst: true,
    // No poll comes earlier than the event.
    timing: { ...defaultTiming, safetyPollFirstMs: 600_000, safetyPollMaxMs: 600_000 },
    onWake: (wake) => wakes.push(wake),
  });
  return { state: state ?? '', wakes };
}
