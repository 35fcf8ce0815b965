/** Requests stops of sandboxes. One workflow per sandbox follows all its stops. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowUpdateFailedError,
  type WorkflowUpdateHandle,
  WorkflowUpdateStage,
} from '@temporalio/client';
import { sandboxStopId } from '../../addresses/addresses.js';
import { requestStopUpdate, workflowTypes } from '../../protocol/messages.js';
import type { StopInput, StopRequest, StopRequestView } from '../../protocol/stop.js';
import { requireOptions } from '../../settings/required-options.js';
import { withAnswerTimeout } from '../../temporal/calls.js';
import { isBusy, isClosing, isSlow } from '../../temporal/errors.js';
import { requireClient } from '../../temporal/own-copy.js';
import { explainStopError, findStopRequest, type StopRequestAddress, stopProgress } from './read-stops.js';
import { parseStopOptions, type StopOptions } from './stop-input.js';

/** Maximum number of attempts. A request may reach a workflow that is ending; the next request starts it again. */
const tries = 5;
/**
 * Temporal accepts ten open updates per workflow. If the service does not answer, these stay open, and other callers
 * wait.
 */
const busyPauseMs = 1_000;
const busyTries = 30;

/** The result of `requestStop`. */
export interface RequestedStop extends StopRequestAddress {
  /**
   * The state of the request when the service had accepted the stop, or when the request had ended. `stopId` is null if
   * the service refuses or does not answer for now; the request then continues.
   */
  readonly accepted: StopRequestView;
}

/** Options of `requestStop`. */
export interface RequestStopOptions {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /**
   * Name of this installation. Temporal's lists show it if this request starts the sandbox's workflow, whose id is the
   * same for every deployment. Default: not shown.
   */
  readonly deployment?: string;
}

/**
 * Stops a sandbox durably: the request lives in Temporal until the stop has ended or its deadline has passed, even if
 * the calling process ends. Safe to repeat with the same `requestId`, as long as Temporal keeps the workflow.
 * @throws SandflowError `bad_stop_request` before anything is started; `no_worker` if no worker answers within 30 s;
 *   `refused` if too many requests wait for the sandbox
 * @example
 * const stop = { sandboxId: 'bx_2345abcd', requestId: 'after-review' };
 * const { accepted } = await requestStop(client, stop, { deployment, taskQueue });
 */
export async function requestStop(
  client: Client,
  options: StopOptions,
  at: RequestStopOptions,
): Promise<RequestedStop> {
  requireClient(client);
  requireOptions(at, { taskQueue: 'a text' });
  const parsed = parseStopOptions(options);
  const { sandboxId, timing, maxHistoryEvents, maxMessages, requestId = randomUUID(), ...rest } = parsed;
  const request: StopRequest = { requestId, ...rest };
  const known = options.requestId === undefined ? undefined : await findStopRequest(client, sandboxId, requestId);
  if (known) return { sandboxId, requestId, runId: known.runId, accepted: known.view };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const input = { sandboxId, timing, maxHistoryEvents, maxMessages };
      const update = await withAnswerTimeout(client, () => startStopRequest(client, input, request, at));
      const address = { sandboxId, requestId, runId: update.workflowRunId ?? '' };
      return { ...address, accepted: await acceptedBy(client, update, address) };
    } catch (error) {
      if (attempt < tries && isClosing(error)) continue;
      if (attempt < busyTries && isBusy(error)) {
        await sleep(busyPauseMs);
        continue;
      }
      throw explainStopError(error, sandboxId);
    }
  }
}

/**
 * Gives a request to the workflow of the sandbox's stops, which it starts if there is none. Returns once the workflow has
 * the request. Safe to repeat with the same request id.
 * @throws errors of Temporal's client
 */
export function startStopRequest(
  client: Client,
  input: StopInput,
  request: StopRequest,
  { taskQueue, deployment }: RequestStopOptions,
): Promise<WorkflowUpdateHandle<StopRequestView>> {
  const { sandboxId } = input;
  return client.workflow.startUpdateWithStart(requestStopUpdate, {
    args: [request],
    updateId: request.requestId,
    waitForStage: WorkflowUpdateStage.ACCEPTED,
    // An operation can be sent only once.
    startWorkflowOperation: new WithStartWorkflowOperation(workflowTypes.stopAndAwaitArchive, {
      workflowId: sandboxStopId(sandboxId),
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: deployment === undefined ? `stop ${sandboxId}` : `stop ${sandboxId}, deployment ${deployment}`,
    }),
  });
}

/**
 * Waits for the result of the update. The update returns when the service answers, which may take longer than a call
 * can stay open. In that case the state of the request is queried.
 */
async function acceptedBy(
  client: Client,
  update: WorkflowUpdateHandle<StopRequestView>,
  address: StopRequestAddress,
): Promise<StopRequestView> {
  try {
    return await withAnswerTimeout(client, () => update.result());
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError || !(isSlow(error) || isClosing(error))) throw error;
    return stopProgress(client, address);
  }
}
