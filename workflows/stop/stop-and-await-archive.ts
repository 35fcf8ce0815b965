/**
 * Stops one sandbox and waits until it is archived, for all callers: one workflow per sandbox, one request per caller.
 *
 *     asking ─► waiting ─► archived | superseded | gone | rejected | still_failing | cancelled
 *        │  ▲      │
 *        │  └──────┘ the stop vanished without being superseded
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
  continueAsNew,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import { requestStopUpdate, sandboxEventSignal, stopReportQuery } from '../../src/protocol/messages.js';
import type { StopInput, StopReport, StopRequest } from '../../src/protocol/stop.js';
import { untilStopped } from '../shared/follow-stop.js';
import { jobError } from '../shared/job-termination.js';
import { requestAndBindStop } from './bind-request.js';
import { checkStops } from './check-stops.js';
import { deadlineAtMs, describeStop, nextDueAtMs, viewOfRecord } from './request-record.js';
import { StopWorkflowState } from './stop-state.js';

/** A run without any update, because its caller went away, ends after this time. */
const firstRequestWithin = '10 seconds';
/** Time limit of the last check before a deadline. */
const lastLook = '5 seconds';
const openAtMost = 100;

export function stopAndAwaitArchive(input: StopInput): Promise<StopReport> {
  return runStopAndAwaitArchive(input);
}

async function runStopAndAwaitArchive(input: StopInput): Promise<StopReport> {
  const run = new StopWorkflowState(input);
  // These calls begin before the handlers are set, because a handler receives earlier messages as soon as it is set.
  for (const record of run.open)
    if (record.stopId === null) run.inBackground(record, () => requestAndBindStop(run, record));
  handleMessages(run);
  try {
    await condition(() => run.carried.records.length > 0, firstRequestWithin, { summary: 'until the first request' });
    for (;;) {
      await passWhatIsDue(run);
      if (run.open.length > 0 && !run.isFull) {
        await watch(run);
        continue;
      }
      if (run.open.length > 0) run.pause();
      await condition(() => (allHandlersFinished() && run.isQuiet) || (run.open.length > 0 && !run.isPausing));
      if (run.isPausing) return await continueAsNew<typeof stopAndAwaitArchive>(run.carry());
      if (run.open.length === 0) return run.report();
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const reason = jobError('cancelled', 'The wait for this stop was cancelled; the service continues the stop.');
    for (const record of run.open) run.settle(record, { outcome: 'cancelled', error: reason });
    await CancellationScope.nonCancellable(() => condition(() => allHandlersFinished() && run.isQuiet));
    return run.report();
  }
}

function handleMessages(run: StopWorkflowState): void {
  setHandler(sandboxEventSignal, (event) => {
    run.signals += 1;
    run.inbox.record(event);
    if (run.isFull) run.noteChange();
  });
  setHandler(stopReportQuery, () => run.report());
  setHandler(
    requestStopUpdate,
    async (request) => {
      run.updates += 1;
      if (run.isFull) run.noteChange();
      const { record, isNew } = run.take(request);
      if (isNew && !run.isPausing) run.inBackground(record, () => requestAndBindStop(run, record));
      const isAnswered = () => record.stopId !== null || record.outcome !== null || record.blocked !== null;
      await CancellationScope.nonCancellable(() => condition(() => isAnswered() || run.isPausing));
      return viewOfRecord(record);
    },
    { validator: (request) => refuseNonsense(run, request) },
  );
}

function refuseNonsense(run: StopWorkflowState, { requestId, deadlineMs, alertAfterMs, notify }: StopRequest): void {
  if (requestId === '' || requestId.length > 200) throw refused('A request id must have 1 to 200 characters.');
  if (!(deadlineMs >= 1)) throw refused('The deadline must be at least 1 ms.');
  if (alertAfterMs !== null && !(alertAfterMs >= 1)) throw refused('The alert must come after at least 1 ms.');
  const { url = '', commandId = '' } = notify ?? {};
  if (url.length > 2_000 || commandId.length > 2_000)
    throw refused('A notify target must have at most 2,000 characters.');
  if (notify && 'command' in notify) throw refused('A notify command is named by commandId; its text is not accepted.');
  const isKnown = run.carried.records.some(({ request }) => request.requestId === requestId);
  if (!isKnown && run.open.length >= openAtMost)
    throw refused(`${openAtMost} requests already wait for this sandbox, the maximum.`);
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}

/** Waits until a stop has ended, a request has arrived, or an action is due. */
async function watch(run: StopWorkflowState): Promise<void> {
  const dueInMs = Math.max(1, Math.min(...run.open.map(nextDueAtMs)) - Date.now());
  const seen = run.changes;
  if (run.waiting.length === 0) {
    await condition(() => run.changes !== seen, dueInMs, { summary: 'until the service has accepted the stop' });
    return;
  }
  const scope = new CancellationScope({ cancellable: true, timeout: dueInMs });
  const watching = scope.run(() =>
    untilStopped(run, run.input.sandboxId, {
      since: run.since,
      read: () => checkStops(run),
      readFirst: run.mustRead,
    }),
  );
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  watching.then(over, over);
  await condition(() => isOver || run.changes !== seen);
  scope.cancel();
  try {
    await watching;
  } catch (error) {
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
  }
}

/** Raises due alerts, and ends requests whose deadline has passed, after one more check. */
async function passWhatIsDue(run: StopWorkflowState): Promise<void> {
  if (run.waiting.some((record) => nextDueAtMs(record) <= Date.now())) {
    try {
      await CancellationScope.withTimeout(lastLook, () => checkStops(run));
    } catch (error) {
      if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
    }
  }
  const nowMs = Date.now();
  for (const record of run.open) {
    if (deadlineAtMs(record) <= nowMs) {
      const code = record.stopId === null ? 'stop_not_accepted' : 'stop_not_ended';
      run.settle(record, { outcome: 'still_failing', error: jobError(code, describeStop(record)) });
    } else if (nextDueAtMs(record) <= nowMs) {
      run.alert(record);
    }
  }
}
