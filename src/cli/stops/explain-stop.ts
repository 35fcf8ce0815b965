/** Explains the state of a sandbox's last stop. Pure. */

import { ownerWorkflowId } from '../../addresses/addresses.js';
import type { Sandbox, StopOperation } from '../../contract/records/sandbox-records.js';
import { dataKeptMs } from '../../contract/workflow-safe/limits.js';
import { type PreservedWork, preservedWorkOf, unsavedWork } from '../../contract/workflow-safe/preserved-work.js';
import { isOpenStop, isUsable } from '../../contract/workflow-safe/states.js';
import type { StopReport, StopRequestView } from '../../protocol/stop.js';
import { isDate } from '../../texts/is-date.js';
import { ageText } from '../units.js';
import { escalationStepText, requestText } from './stop-text.js';

export interface KnownOfStop {
  readonly sandboxId: string;
  /** Null if the sandbox does not exist. */
  readonly sandbox: Sandbox | null;
  /** The sandbox's last stop; null if there is none. */
  readonly stop: StopOperation | null;
  /**
   * The report of the workflow that stops the sandbox; null if there is no workflow, undefined if no worker answers.
   */
  readonly report: StopReport | null | undefined;
  readonly nowMs: number;
}

/** `resumed`: the last stop had completed, and the sandbox has been resumed since. */
export type StopState =
  | 'no_sandbox'
  | 'never_stopped'
  | 'asking'
  | 'pending'
  | 'failing'
  | 'completed'
  | 'resumed'
  | 'superseded';

export function explainStop(known: KnownOfStop) {
  const { sandboxId, sandbox, stop, report, nowMs } = known;
  const asking = (report?.requests ?? []).find(({ outcome, stopId }) => outcome === null && stopId === null);
  const state = stateOf(known, asking);
  const mine = (report?.requests ?? []).filter(({ stopId }) => stop !== null && stopId === stop.id);
  const failed = mine.flatMap((request) => request.failed ?? []).at(0) ?? null;
  const mayBeKept = state === 'completed' && sandbox && stop;
  const kept = mayBeKept ? preservedWorkOf(sandbox, { requestedAt: stop.requestedAt ?? null }) : null;
  // What a resume or a deletion may lose while the stop fails.
  const unsaved = state === 'failing' && sandbox ? unsavedWork(sandbox) : null;
  const since = sinceOf(state, stop, asking, failed?.since ?? null);
  const lastError = stop?.error ?? asking?.blocked?.message ?? null;
  return {
    sandboxId,
    state,
    /** When this state began; null if unknown. */
    since,
    /** Number of failed attempts that sandflow has observed; there may be more. Null if no request watched the stop. */
    attempts: mine.length === 0 ? null : (failed?.attempts ?? 0),
    lastError,
    kept,
    summary: summaryOf(state, known, since),
    facts: [
      ...(lastError === null ? [] : [`Last error: ${lastError}`]),
      ...(failed ? [attemptsText(failed.attempts, failed.since, nowMs)] : []),
      ...(stop?.lastAttemptAt == null ? [] : [`The last attempt ended ${ago(stop.lastAttemptAt, nowMs)}.`]),
      ...(kept === null ? [] : [keptSentences[kept]]),
      ...(unsaved === null ? [] : [unsaved]),
      ...requestFacts(report),
      ...ownerFacts(sandbox),
    ],
    /** What happens next without intervention; null if nothing, or if it is unknown. */
    next: nextOf(state, known),
  };
}

function stateOf({ sandbox, stop }: KnownOfStop, asking: StopRequestView | undefined): StopState {
  if (sandbox === null) return 'no_sandbox';
  if (stop?.status === 'failing') return 'failing';
  if (isOpenStop(stop)) return 'pending';
  if (asking) return 'asking';
  if (stop === null) return 'never_stopped';
  if (stop.status === 'superseded') return 'superseded';
  return sandbox.state === 'archived' ? 'completed' : 'resumed';
}

function sinceOf(
  state: StopState,
  stop: StopOperation | null,
  asking: StopRequestView | undefined,
  failedSince: string | null,
): string | null {
  if (state === 'asking') return asking?.arrivedAt ?? null;
  if (state === 'failing') return failedSince ?? stop?.requestedAt ?? null;
  return (state === 'pending' ? stop?.requestedAt : stop?.endedAt) ?? null;
}

function summaryOf(state: StopState, { sandboxId, sandbox, stop, nowMs }: KnownOfStop, since: string | null): string {
  const asked = stop?.requestedAt == null ? '' : `, requested ${ago(stop.requestedAt, nowMs)},`;
  const when = since === null ? '' : ` ${ago(since, nowMs)}`;
  switch (state) {
    case 'no_sandbox':
      return `Sandbox ${sandboxId} does not exist or was deleted.`;
    case 'never_stopped':
      return `${sandboxId} is ${sandbox?.state}; no stop was requested.`;
    case 'asking':
      return `A stop of ${sandboxId} was requested${when}; the service has not accepted it yet.`;
    case 'pending':
      return `${sandboxId} is being archived: its stop ${stop?.id} was accepted${when}.`;
    case 'failing':
      return `${sandboxId} is not archived: the last attempt of its stop ${stop?.id}${asked} failed.`;
    case 'completed':
      return `${sandboxId} is archived: its stop ${stop?.id} ended${when}.`;
    case 'resumed':
      return `${sandboxId} is ${sandbox?.state}: it was resumed after its stop ${stop?.id} had completed${when}.`;
    case 'superseded':
      return `${sandboxId} is ${sandbox?.state}: a resume ended its stop ${stop?.id}${when}, before it was archived.`;
  }
}

function nextOf(state: StopState, { sandbox, stop }: KnownOfStop): string | null {
  switch (state) {
    case 'asking':
      return 'sandflow keeps retrying until the deadline of the request.';
    case 'pending':
      return 'The service takes the snapshot and archives the sandbox.';
    case 'failing':
      return 'The service retries on its own until the sandbox is archived. Commands and prompts do not stop that; a resume does. What you can do: docs/stop.md, "Stops that fail".';
    case 'completed':
      if (sandbox?.dataExpiredAt != null) return `Nothing: its data was deleted at ${sandbox.dataExpiredAt}.`;
      if (stop?.endedAt == null) return null;
      return `Its data is deleted 14 days after the stop, at ${dateText(Date.parse(stop.endedAt) + dataKeptMs)}.`;
    case 'never_stopped':
    case 'resumed':
    case 'superseded':
      if (sandbox === null || !isUsable(sandbox.state)) return null;
      return sandbox.archiveAfter == null
        ? 'It does not stop by itself: auto-stop is off.'
        : `It stops by itself at ${sandbox.archiveAfter}, unless its agent is running.`;
    case 'no_sandbox':
      return null;
  }
}

const keptSentences: Readonly<Record<PreservedWork, string>> = {
  saved: 'The work up to the stop is saved.',
  stale: 'Only an older state is saved: the last snapshot does not include the work up to the stop.',
  none: 'Nothing is saved: there is no snapshot.',
};

function attemptsText(attempts: number, since: string, nowMs: number): string {
  const count = attempts === 1 ? '1 failed attempt' : `At least ${attempts} failed attempts`;
  return `${count} since ${since} (${ago(since, nowMs)}).`;
}

function requestFacts(report: StopReport | null | undefined): string[] {
  if (report === undefined) return ['No worker answers, so it is unknown which requests wait for it.'];
  const open = (report?.requests ?? []).filter(({ outcome }) => outcome === null);
  const last = (report?.requests ?? []).findLast(({ outcome }) => outcome !== null);
  if (open.length === 0 && last) {
    const ended = `The last sandflow request, ${last.requestId}, ended at ${last.endedAt}: ${requestText(last)}`;
    return [ended, ...escalationFacts(last)];
  }
  if (open.length === 0) return ['No sandflow request waits for it.'];
  return open.flatMap((request) => {
    const alerted = request.alertedAt === null ? '' : `, alert raised at ${request.alertedAt}`;
    const { requestId, deadlineAt } = request;
    return [
      `Request ${requestId} waits until ${deadlineAt}${alerted}: ${requestText(request)}`,
      ...escalationFacts(request),
    ];
  });
}

function escalationFacts({ requestId, escalation }: StopRequestView): string[] {
  return escalation.map((step) => `Request ${requestId}, ${escalationStepText(step)}`);
}

function ownerFacts(sandbox: Sandbox | null): string[] {
  const owner = ownerWorkflowId(sandbox?.name ?? '');
  return owner === undefined ? [] : [`It was created by the workflow ${owner}.`];
}

/** The time may be invalid, because the service may send any text and any year. */
function dateText(ms: number): string {
  return isDate(ms) ? new Date(ms).toISOString() : 'an unknown time';
}

function ago(at: string, nowMs: number): string {
  return nowMs - Date.parse(at) < 1_000 ? 'a moment ago' : `${ageText(at, nowMs)} ago`;
}
