/** The record of one request to stop, and when its next action is due. Pure. */

import type { PreservedWork } from '../../src/contract/workflow-safe/preserved-work.js';
import type { StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { hasFailedAttempt } from '../../src/contract/workflow-safe/states.js';
import type { JobError } from '../../src/protocol/job/job-result.js';
import type { StopOutcome, StopRecord, StopRequest, StopRequestView } from '../../src/protocol/stop.js';
import { describeSteps, dueStep, newSteps, timeOf, viewOfSteps } from './escalation-steps.js';

export function newStopRecord(request: StopRequest, nowMs: number): StopRecord {
  return {
    request,
    arrivedAtMs: nowMs,
    outcome: null,
    stopId: null,
    requestedAt: null,
    status: null,
    kept: null,
    failed: null,
    askedAgain: 0,
    owner: null,
    alertedAtMs: null,
    endedAtMs: null,
    blocked: null,
    error: null,
    asked: null,
    ...(request.escalate && { steps: newSteps(request.escalate), acceptedAtMs: null }),
  };
}

/** How long a request goes on after its deadline to stop what it has resumed, in ms. */
const timeToStopAgainMs = 2_700_000;

export function deadlineAtMs({ arrivedAtMs, request, stopsAgain }: StopRecord): number {
  return arrivedAtMs + request.deadlineMs + (stopsAgain ? timeToStopAgainMs : 0);
}

/** When the alert is due, in ms since the epoch; undefined if it was already raised or is disabled. */
export function alertAtMs({ arrivedAtMs, request, alertedAtMs }: StopRecord): number | undefined {
  return request.alertAfterMs === null || alertedAtMs !== null ? undefined : arrivedAtMs + request.alertAfterMs;
}

/** When the next action of an open request is due, in ms since the epoch. */
export function nextDueAtMs(record: StopRecord): number {
  const never = Number.POSITIVE_INFINITY;
  return Math.min(deadlineAtMs(record), alertAtMs(record) ?? never, dueStep(record)?.atMs ?? never);
}

/** Shortens a text of the service, because continue-as-new carries the record. */
const longestText = 500;

export function cutText<T extends string | null>(text: T): T {
  return text !== null && text.length > longestText ? (`${text.slice(0, longestText - 1)}…` as T) : text;
}

/** Binds the request to a stop, and records a read of this stop. `stop` is null if the archived sandbox shows none. */
export function recordStop(record: StopRecord, stop: StopView | null, nowMs: number): void {
  const known = record.stopId === stop?.id ? record.requestedAt : null;
  // The attempts of an earlier stop are not attempts of this one.
  if (stop !== null && record.stopId !== stop.id) record.failed = null;
  record.stopId = stop?.id ?? null;
  record.requestedAt = stop?.requestedAt ?? known;
  if (stop === null) return;
  record.status = cutText(stop.status);
  if (record.steps) {
    record.acceptedAtMs ??= acceptedAtMs(stop, nowMs);
    record.isFailing = hasFailedAttempt(stop);
  }
  if (stop.status !== 'failing') return;
  const lastAttemptAt = stop.lastAttemptAt ?? null;
  const isNewAttempt = record.failed === null || record.failed.lastAttemptAt !== lastAttemptAt;
  record.failed = {
    since: record.failed?.since ?? lastAttemptAt ?? new Date(nowMs).toISOString(),
    attempts: (record.failed?.attempts ?? 0) + (isNewAttempt ? 1 : 0),
    lastError: cutText(stop.error),
    lastAttemptAt: cutText(lastAttemptAt),
  };
}

/** The service may show no time, any text, or the time of another clock. */
function acceptedAtMs({ requestedAt }: StopView, nowMs: number): number {
  const shown = requestedAt === null ? Number.NaN : Date.parse(requestedAt);
  return Number.isNaN(shown) ? nowMs : Math.min(shown, nowMs);
}

/** Makes the request wait for the next stop, after a resume of this workflow has ended the stop that it waited for. */
export function awaitNextStop(record: StopRecord, endedStopId: string): void {
  record.asked = { previousStopId: endedStopId };
  record.stopId = null;
  record.status = null;
  record.requestedAt = null;
  record.isFailing = false;
  record.stopsAgain = true;
}

/**
 * True if the request came before the end of a stop that another request had received. Both waited for this stop,
 * although only the other was told of it while it was open.
 */
export function sharesStop({ arrivedAtMs }: StopRecord, stopId: string, records: readonly StopRecord[]): boolean {
  return records.some(
    (other) =>
      other.stopId === stopId &&
      other.outcome !== 'already_archived' &&
      arrivedAtMs < (other.endedAtMs ?? Number.POSITIVE_INFINITY),
  );
}

export interface Settlement {
  readonly outcome: StopOutcome;
  readonly kept?: PreservedWork | null;
  readonly error?: JobError | null;
}

/** Ends a request. Safe to repeat: the first end counts. */
export function settleRecord(record: StopRecord, { outcome, kept = null, error = null }: Settlement, nowMs: number) {
  if (record.outcome !== null) return;
  record.outcome = outcome;
  record.kept = kept;
  record.error = error && {
    ...error,
    message: cutText(error.message),
    code: cutText(error.code),
    requestId: cutText(error.requestId),
    details: JSON.stringify(error.details).length > longestText ? null : error.details,
  };
  record.blocked = null;
  record.stopsAgain = undefined;
  record.isDeleting = undefined;
  record.unsaved = undefined;
  record.endedAtMs = nowMs;
}

/** The observed state of the stop, and what its escalation did. */
export function describeStop(record: StopRecord): string {
  return `${describeAttempts(record)} ${describeSteps(record)}`.trimEnd();
}

function describeAttempts(record: StopRecord): string {
  const { stopId, status, failed, blocked } = record;
  if (stopId === null && record.stopsAgain)
    return `The sandbox was resumed to be stopped again, and the service has not accepted that stop${blocked ? `: ${blocked.message}` : ' yet'}.`;
  if (stopId === null) return `The service has not accepted the stop${blocked ? `: ${blocked.message}` : ' yet'}.`;
  const seen = `The stop ${stopId} is ${status ?? 'not read yet'}`;
  if (failed === null) return `${seen}; no failed attempt was seen.`;
  const attempts = failed.attempts === 1 ? '1 failed attempt' : `${failed.attempts} failed attempts`;
  return `${seen}; ${attempts} seen since ${failed.since}, the last one: ${failed.lastError ?? 'no reason given'}`;
}

export function viewOfRecord(record: StopRecord): StopRequestView {
  const { request, arrivedAtMs, alertedAtMs, endedAtMs } = record;
  const { outcome, stopId, status, kept, failed, askedAgain, owner, blocked, error } = record;
  return {
    ...{ outcome, stopId, status, kept, failed, askedAgain, owner, blocked, error },
    requestId: request.requestId,
    escalation: viewOfSteps(record),
    phase: record.outcome !== null ? 'ended' : record.stopId === null ? 'asking' : 'waiting',
    arrivedAt: new Date(arrivedAtMs).toISOString(),
    deadlineAt: new Date(deadlineAtMs(record)).toISOString(),
    alertedAt: timeOf(alertedAtMs),
    endedAt: timeOf(endedAtMs),
  };
}
