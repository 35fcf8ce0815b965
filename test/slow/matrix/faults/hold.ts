/** Somebody else leases a sandbox, or claims it to end it, and releases it after a while. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUsable } from '../../../../src/contract/workflow-safe/states.js';
import { watchUnregisterSignal } from '../../../../workflows/index.js';
import { claimAs, leaseAs, releaseAs, watchOf } from '../../../workflows/watch/lease-harness.js';
import type { World } from '../world.js';

export interface Hold {
  /** Resolves after the release, to broken promises: a sandbox that was deleted while it was leased. */
  readonly back: Promise<readonly string[]>;
}

const heldMs = 3_000;
/** The time after which an unreleased claim ends. */
const lastsMs = 60_000;

/**
 * Resolves when it is held. The watch does not grant it if the job was first. Nobody deletes a leased sandbox,
 * or stops it if it is the source of a batch.
 */
export async function hold(
  { stand }: World,
  { sandboxId, isSource }: { readonly sandboxId: string; readonly isSource: boolean },
  how: 'lease' | 'claim',
): Promise<Hold> {
  const holder = `holder-${randomBytes(5).toString('hex')}`;
  // A watch drops a holder that is not an open workflow. No worker runs this one, so it stays open.
  const open = await stand.client.workflow.start('holder', { workflowId: holder, taskQueue: 'nobody', args: [] });
  const ask = () => (how === 'lease' ? leaseAs(stand, sandboxId, holder) : claimAs(stand, sandboxId, holder, lastsMs));
  const answer = await ask().catch((error: unknown) => error as Error);
  if (answer instanceof Error) return { back: Promise.resolve([`the ${how} was not answered: ${answer.message}`]) };
  const { granted } = answer;
  const look = () => stand.service.books.sandboxes().find(({ id }) => id === sandboxId);
  const before = look();
  return { back: giveBack() };

  async function giveBack(): Promise<readonly string[]> {
    try {
      if (!granted) return [];
      await sleep(heldMs);
      const after = look();
      if (how === 'claim') await releaseAs(stand, sandboxId, holder);
      else await watchOf(stand, sandboxId).signal(watchUnregisterSignal, { workflowId: holder });
      if (how === 'claim') return [];
      if (before?.gone === null && after?.gone !== null) return [`deleted while somebody else leased it: ${sandboxId}`];
      const isStopped = isUsable(before?.state ?? '') && !isUsable(after?.state ?? '');
      return isSource && isStopped ? [`stopped while somebody else worked in the source: ${sandboxId}`] : [];
    } finally {
      await open.terminate();
    }
  }
}
