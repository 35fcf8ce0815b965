/** Talks to `sandboxWatch` workflows, which relay events to workflows that do not own a sandbox and hold their leases. */
import { activityInfo, Context } from '@temporalio/activity';
import { WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import { sandboxWatchId } from '../src/contract/addresses.js';
import {
  claimDeleteUpdate,
  releaseClaimSignal,
  type WatchRegistration,
  watchRegisterSignal,
  workflowTypes,
} from '../workflows/messages.js';

export interface DeleteClaim {
  readonly granted: boolean;
  /** Workflows that hold a lease on the sandbox. */
  readonly leasedBy: readonly string[];
}

const claimLastsMs = 600_000;

/** Asks, within an activity, for the right to delete a sandbox. Safe to repeat. */
export async function claimDeletion(sandboxId: string, taskQueue: string): Promise<DeleteClaim> {
  const claimant = activityInfo().workflowExecution?.workflowId ?? '';
  const expiresAt = new Date(Date.now() + claimLastsMs).toISOString();
  return Context.current().client.workflow.executeUpdateWithStart(claimDeleteUpdate, {
    args: [{ claimant, expiresAt }],
    startWorkflowOperation: new WithStartWorkflowOperation(workflowTypes.sandboxWatch, {
      workflowId: sandboxWatchId(sandboxId),
      taskQueue,
      args: [{ sandboxId }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  });
}

/** Gives a claim back before it expires, so that the watch need not outlive it. Safe to repeat. */
export async function releaseClaim(sandboxId: string): Promise<void> {
  const claimant = activityInfo().workflowExecution?.workflowId ?? '';
  try {
    await Context.current()
      .client.workflow.getHandle(sandboxWatchId(sandboxId))
      .signal(releaseClaimSignal, { claimant });
  } catch (error) {
    // The watch has ended, and the claim with it.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

export function createWatchActivities(taskQueue: string) {
  return {
    /** Registers a workflow for the events of a sandbox; starts the watch where there is none. Safe to repeat. */
    async registerWatch(sandboxId: string, registration: WatchRegistration): Promise<void> {
      await Context.current().client.workflow.signalWithStart(workflowTypes.sandboxWatch, {
        workflowId: sandboxWatchId(sandboxId),
        taskQueue,
        args: [{ sandboxId }],
        signal: watchRegisterSignal,
        signalArgs: [registration],
      });
    },

    /** Asks for the right to delete a sandbox, which is refused while another workflow leases it. Safe to repeat. */
    async claimDelete(sandboxId: string): Promise<DeleteClaim> {
      return claimDeletion(sandboxId, taskQueue);
    },
  };
}
