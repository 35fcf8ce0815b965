/** Asks for sandboxes to be stopped, and says what became of it. One workflow per sandbox sees all its stops through. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type WorkflowUpdateHandle,
  WorkflowUpdateStage,
} from '@temporalio/client';
import { requestStopUpdate, stopReportQuery, workflowTypes } from '../../workflows/messages.js';
import type { StopReport, StopRequest, StopRequestView } from '../../workflows/stop.js';
import { sandboxStopId } from '../contract/addresses.js';
import { SandflowError } from '../contract/sandflow-error.js';
import { parseStopOptions, type StopOptions } from './stop-input.js';
import { explainStopError, isClosing, isSlow, SlowAnswer } from './stops-errors.js';

/** How long an update or a query may wait for a worker, in ms. */
const answerTimeoutMs = 30_000;
/** A worker that drops a workflow from its cache loses the queries that wait for it, so the first wait is short. */
const firstQueryTimeoutMs = 4_000;
/** A call can notice its deadline a little before the clock shows it. */
const deadlineSlackMs = 100;
/** A request may meet a workflow that is just ending; the next one starts it anew. */
const tries = 5;

/** Which request, and on which chain of runs. */
export interface StopRequestAddress {
  readonly sandboxId: string;
  readonly requestId: string;
  /** A run that has the request. */
  readonly runId: string;
}

export interface RequestedStop extends StopRequestAddress {
  /**
   * The request as it was when the service had accepted the stop, or when it had ended. `stopId` is null where the
   * service refuses or does not answer for now: the request goes on.
   */
  readonly accepted: StopRequestView;
}

export interface RequestStopOptions {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
}

/**
 * Stops a sandbox, durably: the request lives in Temporal until the stop has ended or its deadline has passed, whoever
 * goes away meanwhile. Safe to repeat with the same `requestId`, as long as Temporal keeps the workflow.
 * @throws SandflowError `bad_stop_request` before anything is started; `no_worker` where none answers within 30 s;
 *   `refused` where too many requests wait for the sandbox
 */
export async function requestStop(
  client: Client,
  options: StopOptions,
  { taskQueue }: RequestStopOptions,
): Promise<RequestedStop> {
  const { sandboxId, timing, maxHistoryEvents, requestId = randomUUID(), ...wish } = parseStopOptions(options);
  const request: StopRequest = { requestId, ...wish };
  const known = options.requestId === undefined ? undefined : await findRequest(client, sandboxId, requestId);
  if (known) return known;
  for (let attempt = 1; ; attempt += 1) {
    const startWorkflowOperation = new WithStartWorkflowOperation(workflowTypes.stopAndAwaitArchive, {
      workflowId: sandboxStopId(sandboxId),
      taskQueue,
      args: [{ sandboxId, timing, maxHistoryEvents }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `stop ${sandboxId}`,
    });
    try {
      const update = await withinPatience(client, () =>
        client.workflow.startUpdateWithStart(requestStopUpdate, {
          args: [request],
          updateId: requestId,
          waitForStage: WorkflowUpdateStage.ACCEPTED,
          startWorkflowOperation,
        }),
      );
      const address = { sandboxId, requestId, runId: update.workflowRunId ?? '' };
      return { ...address, accepted: await acceptedBy(client, update, address) };
    } catch (error) {
      if (attempt < tries && isClosing(error)) continue;
      throw explainStopError(error, sandboxId);
    }
  }
}

/** The update answers when the service does, which may be away for longer than anybody holds a call open. */
async function acceptedBy(
  client: Client,
  update: WorkflowUpdateHandle<StopRequestView>,
  address: StopRequestAddress,
): Promise<StopRequestView> {
  try {
    return await withinPatience(client, () => update.result());
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError || !(isSlow(error) || isClosing(error))) throw error;
    return stopProgress(client, address);
  }
}

/**
 * Where a request is; also after its end. Needs a worker.
 * @throws SandflowError `stop_not_found`, or `no_worker` where none answers within 30 s
 */
export async function stopProgress(client: Client, address: StopRequestAddress): Promise<StopRequestView> {
  const { sandboxId, requestId, runId } = address;
  const newest = await stopReport(client, sandboxId);
  const view = newest && viewIn(newest, requestId);
  if (view) return view;
  try {
    // A later request has started the workflow anew: this one is in the result of its own chain of runs.
    const handle = client.workflow.getHandle(sandboxStopId(sandboxId), runId === '' ? undefined : runId);
    const ended = viewIn((await withinPatience(client, () => handle.result())) as StopReport, requestId);
    if (ended) return ended;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw explainStopError(error, sandboxId);
  }
  throw new SandflowError('stop_not_found', `Temporal knows no request "${requestId}" to stop ${sandboxId} any more.`);
}

/**
 * What the workflow that stops a sandbox knows, running or ended; null where there is none. Needs a worker.
 * @throws SandflowError `no_worker` where none answers within 30 s
 */
export async function stopReport(client: Client, sandboxId: string): Promise<StopReport | null> {
  try {
    const handle = client.workflow.getHandle(sandboxStopId(sandboxId));
    return await withinPatience(client, () => handle.query(stopReportQuery), firstQueryTimeoutMs);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw explainStopError(error, sandboxId);
  }
}

export interface AwaitStopOptions {
  /** Told whenever something has changed. Default: nobody. */
  readonly onChange?: (view: StopRequestView) => void;
  /** Ends the wait; the stop goes on. Default: never. */
  readonly signal?: AbortSignal;
  /** How often to look, in ms, at first and at most. Default: from 250 ms up to 5 s. */
  readonly lookEveryMs?: readonly [first: number, atMost: number];
}

/**
 * Waits until a request has ended. The service goes on whatever happens to the wait; it can be taken up again.
 * @throws as `stopProgress`, and the reason of `signal`
 */
export async function awaitStop(
  client: Client,
  address: StopRequestAddress,
  options: AwaitStopOptions = {},
): Promise<StopRequestView> {
  const { signal, onChange, lookEveryMs: [firstMs, atMostMs] = [250, 5_000] } = options;
  let seen = '';
  for (let delayMs = firstMs; ; delayMs = Math.min(atMostMs, delayMs * 1.5)) {
    signal?.throwIfAborted();
    const view = await stopProgress(client, address);
    const now = JSON.stringify(view);
    if (now !== seen) onChange?.(view);
    seen = now;
    if (view.outcome !== null) return view;
    await sleep(delayMs, undefined, { signal });
  }
}

async function findRequest(client: Client, sandboxId: string, requestId: string): Promise<RequestedStop | undefined> {
  const report = await stopReport(client, sandboxId);
  const accepted = report && viewIn(report, requestId);
  if (!accepted) return undefined;
  const { runId } = await client.workflow.getHandle(sandboxStopId(sandboxId)).describe();
  return { sandboxId, requestId, runId, accepted };
}

function viewIn(report: StopReport, requestId: string): StopRequestView | undefined {
  return report.requests.find((request) => request.requestId === requestId);
}

/**
 * Asks until the patience is over, each time for longer.
 * @param firstTimeoutMs how long to wait before the question is asked again; by default it is asked once
 */
async function withinPatience<T>(
  client: Client,
  ask: () => Promise<T>,
  firstTimeoutMs: number = answerTimeoutMs,
): Promise<T> {
  const untilMs = Date.now() + answerTimeoutMs;
  for (let timeoutMs = firstTimeoutMs; ; timeoutMs *= 2) {
    const thisUntilMs = Math.min(untilMs, Date.now() + timeoutMs);
    try {
      return await client.withDeadline(thisUntilMs, ask);
    } catch (error) {
      if (Date.now() < thisUntilMs - deadlineSlackMs) throw error;
      if (thisUntilMs === untilMs) throw isSlow(error) ? error : new SlowAnswer(error);
    }
  }
}
