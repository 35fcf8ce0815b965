/** Talks to `sandboxWatch` workflows, which relay events to workflows that do not own a sandbox and hold their leases. */
import { activityInfo, Context } from '@temporalio/activity';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { sandboxWatchId } from '../src/contract/addresses.js';
import {
  claimDeleteUpdate,
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
    },
  };
}
