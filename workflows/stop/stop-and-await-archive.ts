/**
 * Stops one sandbox and waits until it is archived, for all callers: one workflow per sandbox, one request per caller.
 *
 *     asking ─► waiting ─► archived | superseded | gone | deleted | rejected | still_failing | cancelled
 *        │  ▲      │
 *        │  └──────┘ the stop vanished without being superseded, or a step of the escalation resumed the sandbox
 *        └─► already_archived | superseded | gone | rejected | still_failing | cancelled
 *
 * Each request is bound to the stop that it received. Only the service's record of that stop ends it, because an event
 * has no stop id and may belong to an earlier stop (trap S6). The workflow ends when no request is open.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import { type PreservedWork, unsavedWork } from '../../src/contract/workflow-safe/preserved-work.js';
import { escalationProblem } from '../../src/protocol/escalation.js';
import { requestStopUpdate, sandboxEventSignal, stopReportQuery } from '../../src/protocol/messages.js';
import type { StopInput, StopRecord, StopReport, StopRequest } from '../../src/protocol/stop.js';
import { moveOn } from '../shared/continue-as-new.js';
import { observeStop, readKept, type StopObservation, untilStopped } from '../shared/follow-stop.js';
import { jobError, toJobTermination } from '../shared/job-termination.js';
import { requestAndBindStop, take } from './bind-request.js';
import { escalateIfDue, followStartedDeletion } from './escalate.js';
import { dueStep } from './escalation-steps.js';
import { alertAtMs, deadlineAtMs, describeStop, nextDueAtMs, recordStop, viewOfRecord } from './request-record.js';
import { stopDespiteCancel } from './stop-again.js';
import { StopWorkflowState } from './stop-state.js';

/** A run without any update, because its caller went away, ends after this time. */
const firstRequestWithin = '10 seconds';
/** Time limit of the last check before a deadline. */
const lastLook = '5 seconds';
const openAtMost = 100;

export async function stopAndAwaitArchive(input: StopInput): Promise<StopReport> {
  const stop = new StopWorkflowState(input);
  // These calls begin before the handlers are set, because a handler receives earlier messages as soon as it is set.
  for (const record of stop.open) {
    if (record.stopId === null) stop.inBackground(record, () => requestAndBindStop(stop, record));
    if (record.isDeleting) stop.inBackground(record, () => followStartedDeletion(stop, record));
  }
  handleMessages(stop);
  try {
    await condition(() => stop.carried.records.length > 0, firstRequestWithin, { summary: 'until the first request' });
    for (;;) {
      await passWhatIsDue(stop);
      if (stop.open.length > 0 && !stop.isFull) {
        await watch(stop);
        continue;
      }
      if (stop.open.length > 0) stop.pause();
      await condition(() => (allHandlersFinished() && stop.isQuiet) || (stop.open.length > 0 && !stop.isPausing));
      if (stop.isPausing) return await moveOn<typeof stopAndAwaitArchive>(stop.carry());
      if (stop.open.length === 0) return stop.report();
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() =>
      stopDespiteCancel(stop, (record, answer) => take(stop, record, answer)),
    );
    const reason = jobError('cancelled', 'The wait for this stop was cancelled; the service continues the stop.');
    for (const record of stop.open) stop.settle(record, { outcome: 'cancelled', error: reason });
    await CancellationScope.nonCancellable(() => condition(() => allHandlersFinished() && stop.isQuiet));
    return stop.report();
  }
}

function handleMessages(stop: StopWorkflowState): void {
  setHandler(sandboxEventSignal, (event) => {
    stop.signals += 1;
    stop.inbox.record(event);
    if (stop.isFull) stop.noteChange();
  });
  setHandler(stopReportQuery, () => stop.report());
  setHandler(
    requestStopUpdate,
    async (request) => {
      stop.updates += 1;
      if (stop.isFull) stop.noteChange();
      const { record, isNew } = stop.take(request);
      if (isNew && !stop.isPausing) stop.inBackground(record, () => requestAndBindStop(stop, record));
      const isAnswered = () => record.stopId !== null || record.outcome !== null || record.blocked !== null;
      await CancellationScope.nonCancellable(() => condition(() => isAnswered() || stop.isPausing));
      return viewOfRecord(record);
    },
    { validator: (request) => refuseNonsense(stop, request) },
  );
}

function refuseNonsense(stop: StopWorkflowState, request: StopRequest): void {
  const { requestId, deadlineMs, alertAfterMs, escalate, notify } = request;
  if (requestId === '' || requestId.length > 200) throw refused('A request id must have 1 to 200 characters.');
  if (!(deadlineMs >= 1)) throw refused('The deadline must be at least 1 ms.');
  if (alertAfterMs !== null && !(alertAfterMs >= 1)) throw refused('The alert must come after at least 1 ms.');
  const problem = escalate && escalationProblem(escalate);
  if (problem !== undefined) throw refused(`The escalation cannot be used: ${problem}.`);
  if (notify?.url && notify.url.length > 2_000) throw refused('A notify target must have at most 2,000 characters.');
  const isKnown = stop.carried.records.some(({ request }) => request.requestId === requestId);
  if (!isKnown && stop.open.length >= openAtMost)
    throw refused(`${openAtMost} requests already wait for this sandbox, the maximum.`);
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}

/** Waits until a stop has ended, a request has arrived, or an action is due. */
async function watch(stop: StopWorkflowState): Promise<void> {
  const dueInMs = Math.max(1, Math.min(...stop.open.map(nextDueAtMs)) - Date.now());
  const seen = stop.changes;
  if (stop.waiting.length === 0) {
    await condition(() => stop.changes !== seen, dueInMs, { summary: 'until the service has accepted the stop' });
    return;
  }
  const scope = new CancellationScope({ cancellable: true, timeout: dueInMs });
  const watching = scope.run(() =>
    untilStopped(stop, stop.input.sandboxId, {
      since: stop.since,
      read: () => checkStops(stop),
      readFirst: stop.mustRead,
    }),
  );
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  watching.then(over, over);
  await condition(() => isOver || stop.changes !== seen);
  scope.cancel();
  try {
    await watching;
  } catch (error) {
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
  }
}

/** Raises due alerts, and ends requests whose deadline has passed, after one more check. */
async function passWhatIsDue(stop: StopWorkflowState): Promise<void> {
  if (stop.waiting.some((record) => nextDueAtMs(record) <= Date.now())) {
    try {
      await CancellationScope.withTimeout(lastLook, () => checkStops(stop));
    } catch (error) {
      if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
    }
  }
  const nowMs = Date.now();
  for (const record of stop.open) {
    // A step of another request may have changed this one.
    if (record.outcome !== null) continue;
    if (deadlineAtMs(record) <= nowMs) {
      const code = record.stopId === null ? 'stop_not_accepted' : 'stop_not_ended';
      stop.settle(record, { outcome: 'still_failing', error: jobError(code, describeStop(record)) });
      continue;
    }
    if ((alertAtMs(record) ?? nowMs + 1) <= nowMs) stop.alert(record);
    await escalateIfDue(stop, record);
  }
}

/**
 * Checks every stop that a request waits for, once.
 * @returns true if a request has ended or is repeated, or a step of its escalation is due
 */
async function checkStops(stop: StopWorkflowState): Promise<true | undefined> {
  const mark = stop.inbox.mark();
  const checked = stop.waiting;
  const stopIds = new Set(checked.flatMap(({ stopId }) => stopId ?? []));
  for (const stopId of stopIds) await checkStop(stop, stopId);
  for (const record of checked) record.blocked = null;
  stop.since = mark;
  stop.mustRead = false;
  const nowMs = Date.now();
  const isStepDue = (record: StopRecord) => (dueStep(record)?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs;
  return checked.some((one) => one.outcome !== null || one.stopId === null || isStepDue(one)) || undefined;
}

async function checkStop(stop: StopWorkflowState, stopId: string): Promise<void> {
  const concerned = () => stop.waiting.filter((record) => record.stopId === stopId);
  try {
    const caller = stop.callerFor();
    const seen = await observeStop(caller, { sandboxId: stop.input.sandboxId, stopId }, stop.timing);
    const requestedAt = concerned().find((record) => record.requestedAt !== null)?.requestedAt ?? null;
    const isOwn = 'stop' in seen && seen.stop?.id === stopId;
    const kept = seen.kind === 'done' ? await readKept(caller, seen, isOwn ? requestedAt : null) : null;
    for (const record of concerned()) apply(stop, record, { seen, kept });
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { jobError } = toJobTermination(error);
    for (const record of concerned()) stop.settle(record, { outcome: 'rejected', error: jobError });
  }
}

interface Checked {
  readonly seen: StopObservation;
  readonly kept: PreservedWork | null;
}

function apply(stop: StopWorkflowState, record: StopRecord, { seen, kept }: Checked): void {
  // A read that is older than our resume shows the stop that the resume has ended.
  if ('stop' in seen && seen.stop?.id !== record.stopId && stop.hasResumedFrom(seen.stop?.id)) return;
  if ('stop' in seen) recordStop(record, seen.stop, Date.now());
  if (record.steps && 'sandbox' in seen) record.unsaved = unsavedWork(seen.sandbox);
  switch (seen.kind) {
    case 'pending':
      break;
    case 'done':
      stop.settle(record, { outcome: 'archived', kept });
      break;
    case 'superseded':
    case 'gone':
      // Possibly by a step whose answer was lost. Its next attempt finds out.
      if (stop.hasSentStep(record.stopId)) break;
      stop.settle(record, { outcome: seen.kind });
      break;
    case 'vanished':
      record.stopId = null;
      record.askedAgain += 1;
      stop.inBackground(record, () => requestAndBindStop(stop, record));
      break;
    default:
      seen satisfies never;
  }
}
