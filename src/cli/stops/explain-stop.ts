/** Says in plain words where a sandbox's last stop is. Pure. */
import type { PreservedWork } from '../../../workflows/job/types.js';
import type { StopReport, StopRequestView } from '../../../workflows/stop/types.js';
import { ownerWorkflowId } from '../../contract/addresses.js';
import { preservedWorkOf } from '../../contract/preserved-work.js';
import type { Sandbox, StopOperation } from '../../contract/records.js';
import { isUsable } from '../../contract/states.js';
import { ageText } from '../sandboxes/times.js';
import { type Advice, adviceFor } from './advice.js';
import { isOpenStop } from './choose-sandboxes.js';
import { requestText } from './stop-text.js';

export interface KnownOfStop {
  readonly sandboxId: string;
  /** Null where there is none. */
  readonly sandbox: Sandbox | null;
  /** The sandbox's last stop. */
  readonly stop: StopOperation | null;
  /** What its workflow knows; null where there is none, undefined where none answers. */
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

export interface StopExplanation {
  readonly sandboxId: string;
  readonly state: StopState;
  /** Since when it is in this state; null where nobody says. */
  readonly since: string | null;
  /** How many failed attempts sandflow has seen, at least; null where nobody has watched. */
  readonly attempts: number | null;
  readonly lastError: string | null;
  readonly kept: PreservedWork | null;
  readonly summary: string;
  readonly facts: readonly string[];
  /** What happens without anybody doing anything; null: nothing. */
  readonly next: string | null;
  readonly advice: readonly Advice[];
}

/** Snapshot data is deleted so long after the stop (specification, section "Numbers"). */
const dataKeptMs = 14 * 86_400_000;

export function explainStop(known: KnownOfStop): StopExplanation {
  const { sandboxId, sandbox, stop, report, nowMs } = known;
  const asking = (report?.requests ?? []).find(({ outcome, stopId }) => outcome === null && stopId === null);
  const state = stateOf(known, asking);
  const mine = (report?.requests ?? []).filter(({ stopId }) => stop !== null && stopId === stop.id);
  const failed = mine.flatMap((request) => request.failed ?? []).at(0) ?? null;
  const kept = state === 'completed' && sandbox && stop ? keptByStop(sandbox, stop) : null;
  const since = sinceOf(state, { stop, asking, failedSince: failed?.since ?? null });
  const lastError = stop?.error ?? asking?.blocked?.message ?? null;
  return {
    sandboxId,
    state,
    since,
    attempts: mine.length === 0 ? null : (failed?.attempts ?? 0),
    lastError,
    kept,
    summary: summaryOf(state, known, since),
    facts: [
      ...(lastError === null ? [] : [`Last error: ${lastError}`]),
      ...(failed ? [attemptsText(failed.attempts, failed.since, nowMs)] : []),
      ...(stop?.lastAttemptAt == null ? [] : [`The last attempt ended ${ago(stop.lastAttemptAt, nowMs)}.`]),
      ...(kept === null ? [] : [keptText(kept)]),
      ...requestFacts(report),
      ...ownerFacts(sandbox),
    ],
    next: nextOf(state, known),
    advice: adviceFor(state, { sandboxId, isExpired: sandbox?.dataExpiredAt != null }),
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

interface Times {
  readonly stop: StopOperation | null;
  readonly asking: StopRequestView | undefined;
  readonly failedSince: string | null;
}

function sinceOf(state: StopState, { stop, asking, failedSince }: Times): string | null {
  if (state === 'asking') return asking?.arrivedAt ?? null;
  if (state === 'failing') return failedSince ?? stop?.requestedAt ?? null;
  return (state === 'pending' ? stop?.requestedAt : stop?.endedAt) ?? null;
}

function summaryOf(state: StopState, { sandboxId, sandbox, stop, nowMs }: KnownOfStop, since: string | null): string {
  const asked = stop?.requestedAt == null ? '' : `, asked for ${ago(stop.requestedAt, nowMs)},`;
  const when = since === null ? '' : ` ${ago(since, nowMs)}`;
  switch (state) {
    case 'no_sandbox':
      return `There is no sandbox ${sandboxId}, or not any more.`;
    case 'never_stopped':
      return `${sandboxId} is ${sandbox?.state}, and nobody has asked for a stop.`;
    case 'asking':
      return `A stop of ${sandboxId} was asked for${when}, and the service has not accepted it.`;
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
      return 'sandflow goes on asking until the deadline of the request.';
    case 'pending':
      return 'The service takes the snapshot and archives the sandbox.';
    case 'failing':
      return 'The service tries again by itself until it is archived. Commands and prompts do not stop that; a resume does.';
    case 'completed':
      if (sandbox?.dataExpiredAt != null) return `Nothing: its data was deleted at ${sandbox.dataExpiredAt}.`;
      if (stop?.endedAt == null) return null;
      return `Its data is deleted 14 days after the stop, at ${new Date(Date.parse(stop.endedAt) + dataKeptMs).toISOString()}.`;
    case 'never_stopped':
    case 'resumed':
    case 'superseded':
      if (sandbox === null || !isUsable(sandbox.state)) return null;
      return sandbox.archiveAfter == null
        ? 'It does not stop by itself: auto-stop is off.'
        : `It stops by itself at ${sandbox.archiveAfter}, unless its agent works.`;
    case 'no_sandbox':
      return null;
  }
}

function keptByStop(sandbox: Sandbox, stop: StopOperation): PreservedWork | null {
  return preservedWorkOf(
    {
      snapshots: sandbox.snapshots ?? null,
      snapshotAvailable: sandbox.snapshotAvailable ?? null,
      snapshotCompletedAt: sandbox.snapshotCompletedAt ?? null,
      snapshotVerifiedAt: sandbox.snapshotVerifiedAt ?? null,
      lastSnapshotStatus: sandbox.lastSnapshotStatus ?? null,
    },
    { requestedAt: stop.requestedAt ?? null },
  );
}

const keptSentences: Readonly<Record<PreservedWork, string>> = {
  saved: 'The work up to the stop is saved.',
  stale: 'Only an older state is saved: the last snapshot did not hold the work up to the stop.',
  none: 'Nothing was kept: there is no snapshot.',
};
const keptText = (kept: PreservedWork) => keptSentences[kept];

function attemptsText(attempts: number, since: string, nowMs: number): string {
  const count = attempts === 1 ? '1 failed attempt was seen' : `At least ${attempts} failed attempts were seen`;
  return `${count} since ${since} (${ago(since, nowMs)}).`;
}

function requestFacts(report: StopReport | null | undefined): string[] {
  if (report === undefined) return ['No worker answers, so who waits for it is not known.'];
  const open = (report?.requests ?? []).filter(({ outcome }) => outcome === null);
  const last = (report?.requests ?? []).findLast(({ outcome }) => outcome !== null);
  if (open.length === 0 && last) {
    return [`The last request of sandflow, ${last.requestId}, ended at ${last.endedAt}: ${requestText(last)}`];
  }
  if (open.length === 0) return ['No request of sandflow waits for it.'];
  return open.map((request) => {
    const alerted = request.alertedAt === null ? '' : `, alert raised at ${request.alertedAt}`;
    return `Request ${request.requestId} waits until ${request.deadlineAt}${alerted}: ${requestText(request)}`;
  });
}

function ownerFacts(sandbox: Sandbox | null): string[] {
  const owner = ownerWorkflowId(sandbox?.name ?? '');
  return owner === undefined ? [] : [`It was made by the workflow ${owner}.`];
}

function ago(at: string, nowMs: number): string {
  return nowMs - Date.parse(at) < 1_000 ? 'a moment ago' : `${ageText(at, nowMs)} ago`;
}
