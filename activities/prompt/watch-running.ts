/** Reads the sandboxes of many prompts for a while, and tells the workflows whose sandbox has left `running`. */
import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import { timeLimit, withAnySignal } from '../../src/os/any-signal.js';
import { type FollowRegistration, leftRunningSignal } from '../../src/protocol/messages.js';
import { type FollowHub, readSingle, type SharedRead } from './follow-hub.js';

/**
 * How long one call watches, in ms. The time limit of the activity is a little longer: when a worker dies, another one
 * watches within a minute, without heartbeats.
 */
const roundMs = 30_000;

/**
 * Watches sandboxes for half a minute, or until none is left to watch. Safe to repeat: a workflow may be told twice.
 * @returns the places of the workflows that were told, or that have ended
 */
export function watchRunningActivity(client: SandboxClient, hub: FollowHub) {
  return async function watchRunning(watched: readonly FollowRegistration[]): Promise<readonly number[]> {
    const { cancellationSignal } = Context.current();
    const told: number[] = [];
    await withAnySignal([cancellationSignal, timeLimit(roundMs)], async (signal) => {
      const runsOn = async (index: number, read: SharedRead | undefined) => {
        const one = watched[index];
        if (!one || (await isRunning(client, one, { read, signal }))) return one !== undefined;
        if (await tell(one)) told.push(index);
        return false;
      };
      await hub.watch(watched, { onRead: runsOn, signal });
    });
    // Another worker goes on at once.
    if (cancellationSignal.aborted) throw cancellationSignal.reason;
    return told;
  };
}

/** @param read undefined if no shared read shows the sandbox: that proves nothing (trap S13) */
async function isRunning(
  client: SandboxClient,
  { sandboxId }: FollowRegistration,
  { read, signal }: { readonly read: SharedRead | undefined; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const one = read ?? (await orNullWhenMissing(readSingle(client, sandboxId, { signal })));
    return one?.sandbox.state === 'running';
  } catch {
    // An error shows no end, and the workflow would meet it too: the prompt still counts as running.
    return true;
  }
}

async function tell({ workflowId, sandboxId }: FollowRegistration): Promise<boolean> {
  try {
    await Context.current().client.workflow.getHandle(workflowId).signal(leftRunningSignal, { sandboxId });
    return true;
  } catch (error) {
    // It stays registered if Temporal did not answer.
    return error instanceof WorkflowNotFoundError;
  }
}
