/** Hands a stop over to the workflow that follows all stops of its sandbox. */
import { activityInfo, Context } from '@temporalio/activity';
import { deploymentOfWorkflow, sandboxStopId } from '../../src/addresses/addresses.js';
import type { StopRequest } from '../../src/protocol/stop.js';
import { startStopRequest } from '../../src/workflow-client/stops/stop-client.js';
import { withHeartbeat } from '../retry/attempt.js';

export function createStopHandOver(taskQueue: string) {
  return {
    /**
     * Requests a stop as `requestStop` does, and starts its workflow if there is none. Returns once the workflow has the
     * request. Safe to repeat with the same request id; once that workflow has ended, a repetition finds the sandbox
     * archived.
     * @returns the id of the workflow
     */
    handOverStop: (sandboxId: string, request: StopRequest): Promise<string> =>
      withHeartbeat(async () => {
        const deployment = deploymentOfWorkflow(activityInfo().workflowExecution?.workflowId ?? '');
        await startStopRequest(Context.current().client, { sandboxId }, request, { taskQueue, deployment });
        return sandboxStopId(sandboxId);
      }),
  };
}
