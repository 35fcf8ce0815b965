/** Each request of a stop that escalates ends in an outcome that the books confirm, and for a cause. */
import type { EscalationStepView, StopRequestView } from '../../../src/protocol/stop.js';
import { failsForEver } from '../plan/plan.js';
import { escalatedDeadlineMs } from '../players/stop.js';
import type { CallOfWorld } from '../stack/wire.js';
import { type Escalated, hasStruck, type MissedTime, troublesOf, type WorldRecord } from './record.js';

/** The end of a request, as a sentence. */
export interface BrokenEnd {
  readonly what: string;
  readonly late?: MissedTime | undefined;
}

export function brokenStopEnds(record: WorldRecord, one: Escalated): BrokenEnd[] {
  const played = record.played.get(one.told.job);
  const ends = one.views.flatMap((view): BrokenEnd[] => {
    const why = untrue(record, one, view);
    if (why === undefined) return [];
    const isLate = why === keptByNothing && played !== undefined;
    const late = isLate ? { ...played, missedMs: spareMs(one) } : undefined;
    return [{ what: `${view.requestId} says ${view.outcome}, but ${why}`, late }];
  });
  const steps = one.views.flatMap(({ escalation }) => escalation.flatMap((step) => untrueStep(record, one, step)));
  return [...ends, ...steps.map((what) => ({ what }))];
}

const keptByNothing = 'nothing kept it from its end';

/** From the last step to the deadline, in ms. */
const spareMs = ({ views }: Escalated) =>
  escalatedDeadlineMs - Math.max(0, ...views.flatMap(({ escalation }) => escalation.map(({ afterMs }) => afterMs)));

function untrue(record: WorldRecord, one: Escalated, view: StopRequestView): string | undefined {
  const { books, traces } = record;
  const { sandboxId, told, plan } = one;
  const hits = troublesOf(record, told.job);
  const sandbox = books.sandboxes.find(({ id }) => id === sandboxId);
  const stop = books.stops.find(({ id }) => id === view.stopId);
  const isStruck = hits.some(({ kind }) => kind === 'wire' || kind === 'lag');
  const isTaken = traces.taken.has(sandboxId) || record.told.some((by) => by !== told && by.given.includes(sandboxId));
  switch (view.outcome) {
    case 'archived':
    case 'already_archived':
      if (stop && stop.status !== 'completed') return `its stop is ${stop.status}`;
      if (plan.fails >= failsForEver && sandbox?.state !== 'archived') return `no attempt could succeed`;
      return undefined;
    case 'deleted': {
      const isByStep = view.escalation.some(({ action, state }) => action === 'delete' && state === 'done');
      if (!isByStep) return 'no step has deleted it';
      return sandbox?.gone === null ? `it is ${sandbox.state}` : undefined;
    }
    case 'superseded':
      return isTaken || traces.acted.has(sandboxId) || isStruck ? undefined : 'nobody has resumed it';
    case 'gone': {
      const isDeleted = sandbox?.gone !== null || isStruck;
      return isDeleted ? undefined : `it is ${sandbox?.state}`;
    }
    case 'still_failing': {
      const endedMs = Date.parse(view.endedAt ?? '');
      if (endedMs < Date.parse(view.deadlineAt) - 100) return 'its deadline had not passed';
      const isHard = hits.length > 0 || isTaken || hasStruck(record, (of) => !('at' in of) || of.kind === 'crash');
      const isDue = view.escalation.some(({ action }) => action === 'delete') || plan.fails < failsForEver;
      return isDue && !isHard ? keptByNothing : undefined;
    }
    case 'rejected':
      return hits.length > 0 ? undefined : `nothing was refused (${view.error?.message})`;
    case 'cancelled':
      return hits.some(({ kind }) => kind === 'message') ? undefined : 'nobody has cancelled it';
    case null:
      return 'it has not ended';
  }
}

function untrueStep({ books, calls }: WorldRecord, one: Escalated, step: EscalationStepView): string[] {
  const { sandboxId } = one;
  const { action, state, why, endedStopId } = step;
  if (state === 'left' && why === null) return [`"${action}" was left without a reason`];
  if (state !== 'done') return [];
  if (action === 'delete' && books.sandboxes.some(({ id, gone }) => id === sandboxId && gone === null)) {
    return ['"delete" is done, and the sandbox exists'];
  }
  if (action !== 'resume-and-stop' || why !== null) return [];
  const ended = books.stops.find(({ id }) => id === endedStopId);
  // The stop may complete between the last read and the resume.
  const isCompleted = ended?.status === 'completed' && ended.endedAt !== null;
  const isJustCompleted = isCompleted && lastReadBefore(calls, one) <= Date.parse(ended.endedAt ?? '');
  return ended?.status === 'superseded' || isJustCompleted
    ? []
    : [`"${action}" is done, and its stop is ${ended?.status ?? 'unknown'}`];
}

/** When the first step that resumed was about to: the time of its read. */
function lastReadBefore(calls: WorldRecord['calls'], { told, accepted }: Escalated): number {
  const resumedAtMs = accepted.find(({ call }) => call.endpoint === 'resumeSandbox')?.atMs ?? 0;
  const isRead = ({ job, call, atMs }: CallOfWorld) =>
    job === told.job && call.activity === 'resumeFailingStop' && call.isRead && atMs <= resumedAtMs;
  return calls.findLast(isRead)?.atMs ?? 0;
}
