/** Kills when the history of a workflow has a certain number of events. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import type { EventOfJob, Plan, Trouble } from '../plan/plan.js';

export type CrashAtEvent = Extract<Trouble, { readonly kind: 'crash'; readonly at: EventOfJob }>;

export interface CrashAtEventsOptions {
  readonly deployment: string;
  readonly signal: AbortSignal;
  readonly onCrash: (trouble: CrashAtEvent) => void;
}

/** @returns the keys of the troubles that have struck, which grows */
export function crashAtEvents(client: Client, plan: Plan, options: CrashAtEventsOptions): ReadonlySet<string> {
  const struck = new Set<string>();
  for (const trouble of plan.troubles) {
    if (trouble.kind !== 'crash' || 'when' in trouble) continue;
    const workflowId = jobWorkflowId(options.deployment, trouble.at.job);
    reached(client, workflowId, trouble.at.event, options.signal).then(
      (isReached) => {
        if (!isReached) return;
        struck.add(trouble.key);
        options.onCrash(trouble);
      },
      () => undefined,
    );
  }
  return struck;
}

/** Waits by long polls, so that few events pass unseen. @returns false if the workflow ends before */
async function reached(client: Client, workflowId: string, event: number, signal: AbortSignal): Promise<boolean> {
  let seen = 0;
  let nextPageToken: Uint8Array | undefined;
  while (!signal.aborted) {
    try {
      const answer = await client.workflowService.getWorkflowExecutionHistory({
        namespace: 'default',
        execution: { workflowId },
        waitNewEvent: true,
        nextPageToken,
      });
      seen += answer.history?.events?.length ?? 0;
      if (seen >= event) return true;
      nextPageToken = answer.nextPageToken ?? undefined;
      if (!nextPageToken || nextPageToken.length === 0) return false;
    } catch {
      // The workflow has not started, or Temporal is away.
      await sleep(100);
    }
  }
  return false;
}
