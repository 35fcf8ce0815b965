/** Reads the state of requests to stop a sandbox. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { sandboxStopId } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { stopReportQuery, workflowTypes } from '../../protocol/messages.js';
import type { StopReport, StopRequestView } from '../../protocol/stop.js';
import { firstQueryTimeoutMs, withAnswerTimeout } from '../../temporal/calls.js';
import { isBusy, isSlow, reasonOf } from '../../temporal/errors.js';
import { queryOnce } from '../../temporal/query-once.js';
import { lenientClient } from '../../temporal/readable-memos.js';

/** Identifies a request and the chain of runs that has it. */
export interface StopRequestAddress {
  /** Id of the sandbox. */
  readonly sandboxId: string;
  /** Id of the request. */
  readonly requestId: string;
  /** A run that has the request. */
  readonly runId: string;
}

/**
 * Queries the state of a request, also after its end. Needs a worker.
 * @throws SandflowError `stop_not_found`, or `no_worker` if no worker answers within 30 s
 * @example
 * const request = await requestStop(client, { sandboxId: 'bx_2345abcd' }, { deployment, taskQueue });
 * const { phase, outcome } = await stopProgress(client, request);
 */
export async function stopProgress(client: Client, address: StopRequestAddress): Promise<StopRequestView> {
  const { sandboxId, requestId, runId } = address;
  const newest = await stopReport(client, sandboxId);
  const view = newest && viewIn(newest, requestId);
  if (view) return view;
  try {
    // A later request has started the workflow again. This request is in the result of its own chain of runs.
    const ended = viewIn(await resultOf(client, sandboxId, runId === '' ? undefined : runId), requestId);
    if (ended) return ended;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw explainStopError(error, sandboxId);
  }
  throw new SandflowError('stop_not_found', `Temporal no longer has the request "${requestId}" to stop ${sandboxId}.`);
}

/**
 * Queries the report of the workflow that stops a sandbox, also after its end. Returns null if there is no such
 * workflow. Needs a worker.
 * @throws SandflowError `no_worker` if no worker answers within 30 s
 * @example
 * const report = await stopReport(client, 'bx_2345abcd');
 */
export async function stopReport(client: Client, sandboxId: string): Promise<StopReport | null> {
  try {
    const handle = client.workflow.getHandle(sandboxStopId(sandboxId));
    return await withAnswerTimeout(client, () => queryOnce(handle, stopReportQuery), firstQueryTimeoutMs);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw explainStopError(error, sandboxId);
  }
}

/** Options of `awaitStop`. */
export interface AwaitStopOptions {
  /** Called after every change. Default: none. */
  readonly onChange?: (view: StopRequestView) => void;
  /** Ends the wait; the stop continues. Default: never. */
  readonly signal?: AbortSignal;
  /** First and maximum poll interval, in ms. Default: from 250 ms up to 5 s. */
  readonly lookEveryMs?: readonly [first: number, atMost: number];
}

/**
 * Waits until a request has ended. If the wait is interrupted, the service continues the stop, and the wait can be
 * repeated.
 * @throws as `stopProgress`, and the reason of `signal`
 * @example
 * const request = await requestStop(client, { sandboxId: 'bx_2345abcd' }, { deployment, taskQueue });
 * const { outcome } = await awaitStop(client, request);
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

/**
 * Finds a request and the run that has it. Returns undefined if Temporal has no request with this id. Needs a worker.
 */
export async function findStopRequest(
  client: Client,
  sandboxId: string,
  requestId: string,
): Promise<{ readonly view: StopRequestView; readonly runId: string } | undefined> {
  const newest = await stopReport(client, sandboxId);
  if (newest === null) return undefined;
  const workflowId = sandboxStopId(sandboxId);
  const view = viewIn(newest, requestId);
  if (view) return { view, runId: (await lenientClient(client).workflow.getHandle(workflowId).describe()).runId };
  // A later request has started the workflow again. This request may be in the result of an earlier chain of runs.
  const query = `WorkflowId = '${workflowId}' AND ExecutionStatus = 'Completed'`;
  for await (const { runId } of lenientClient(client).workflow.list({ query })) {
    const ended = viewIn(await resultOf(client, sandboxId, runId), requestId);
    if (ended) return { view: ended, runId };
  }
  return undefined;
}

async function resultOf(client: Client, sandboxId: string, runId: string | undefined): Promise<StopReport> {
  const handle = client.workflow.getHandle(sandboxStopId(sandboxId), runId);
  return (await withAnswerTimeout(client, () => handle.result())) as StopReport;
}

function viewIn(report: StopReport, requestId: string): StopRequestView | undefined {
  return report.requests.find((request) => request.requestId === requestId);
}

/** Converts an error of Temporal's client into an error that says how to fix it; returns other errors unchanged. */
export function explainStopError(error: unknown, sandboxId: string): unknown {
  if (error instanceof WorkflowUpdateFailedError) {
    return new SandflowError('refused', `The stop of ${sandboxId} was refused: ${reasonOf(error)}`, { cause: error });
  }
  if (error instanceof WorkflowFailedError) {
    const message = `The workflow that stopped ${sandboxId} was ended outside sandflow: ${reasonOf(error)}. Request the stop again.`;
    return new SandflowError('stop_lost', message, { cause: error });
  }
  if (isBusy(error)) {
    const message = `Too many requests to stop ${sandboxId} wait for the service to answer. Try again later.`;
    return new SandflowError('stop_busy', message, { cause: error });
  }
  if (isSlow(error)) {
    const message = `The stop of ${sandboxId} did not answer in time: no worker takes its tasks. Start one with \`sandflow worker\`, then try again.`;
    return new SandflowError('no_worker', message, { cause: error });
  }
  return error;
}

const atOnce = 8;

/**
 * Queries the reports of the stop workflows that run for these sandboxes. Visibility lags: a workflow that was started
 * a moment ago may be missing.
 * @returns the reports by sandbox id, without sandboxes for which no workflow runs; a report is null if no worker
 *   answers
 */
export async function openStopReports(
  client: Client,
  sandboxIds: readonly string[],
): Promise<ReadonlyMap<string, StopReport | null>> {
  const wanted = new Map(sandboxIds.map((id) => [sandboxStopId(id), id]));
  const running: string[] = [];
  const query = `WorkflowType = '${workflowTypes.stopAndAwaitArchive}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of lenientClient(client).workflow.list({ query })) {
    const sandboxId = wanted.get(workflowId);
    if (sandboxId !== undefined) running.push(sandboxId);
  }
  const reports = new Map<string, StopReport | null>();
  let isAnswering = true;
  const rest = running.values();
  const askOn = async () => {
    for (const sandboxId of rest) {
      const report = isAnswering ? await answerFor(client, sandboxId) : 'no_worker';
      // The other queries would get no answer either, and each would wait for its timeout.
      if (report === 'no_worker') isAnswering = false;
      if (report !== null) reports.set(sandboxId, report === 'no_worker' ? null : report);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
  return reports;
}

async function answerFor(client: Client, sandboxId: string): Promise<StopReport | null | 'no_worker'> {
  try {
    return await stopReport(client, sandboxId);
  } catch (error) {
    if (error instanceof SandflowError && error.code === 'no_worker') return 'no_worker';
    throw error;
  }
}
