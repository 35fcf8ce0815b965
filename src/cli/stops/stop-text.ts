/** Describes a stop request as text. Pure. */

import { stepText } from '../../protocol/escalation.js';
import type { JobError } from '../../protocol/job/job-result.js';
import type { EscalationStepView, StopOutcome, StopRequest, StopRequestView } from '../../protocol/stop.js';
import { shellWord } from '../../texts/shell-word.js';
import { keptTexts } from '../output/job-text.js';
import { pasteable } from '../output/pasteable.js';
import { programName } from '../program-name.js';

/** How the command ended for one sandbox. */
export type StopEnd =
  | { readonly kind: 'seen'; readonly view: StopRequestView }
  /** Ctrl-C came before the end. The error is null if the stop was, or may have been, requested. */
  | { readonly kind: 'left'; readonly error: JobError | null }
  | { readonly kind: 'failed'; readonly error: JobError; readonly exitCode: number };

const hints: Partial<Readonly<Record<StopOutcome, string>>> = {
  superseded: 'it was resumed in the meantime and was not stopped again',
  gone: 'the sandbox does not exist',
  deleted: 'its escalation deleted the sandbox and its snapshots',
};

/** True if the request succeeded. */
export function isGood(end: StopEnd, waited: boolean): boolean {
  if (end.kind !== 'seen') return false;
  const { outcome, stopId } = end.view;
  return outcome === null ? !waited && stopId !== null : outcome === 'archived' || outcome === 'already_archived';
}

export function endText(end: StopEnd): string {
  if (end.kind === 'left') return end.error?.message ?? 'detached before it ended';
  if (end.kind === 'failed') return `failed: ${end.error.message}`;
  return requestText(end.view);
}

/** The progress of a request, or how it ended. */
export function requestText(view: StopRequestView): string {
  const { outcome, kept, error } = view;
  if (outcome === null) return openText(view);
  const what = kept === null ? outcome : `${outcome}, ${keptTexts[kept]}`;
  const why = error?.message ?? hints[outcome];
  return why ? `${what}: ${why}` : what;
}

function openText({ stopId, blocked, status }: StopRequestView): string {
  if (stopId !== null) return `stop ${stopId} accepted${status === 'failing' ? ', failing' : ''}`;
  return blocked
    ? `not accepted yet; the service refuses: ${blocked.message}`
    : 'not accepted yet; the service has not answered or has not found the sandbox';
}

/** Describes the change since `seen`; undefined if it needs no notice. */
export function newsText(view: StopRequestView, seen: StopRequestView | undefined): string | undefined {
  if (view.outcome !== null) return undefined;
  if (view.blocked && view.blocked.since !== seen?.blocked?.since) {
    return `the service refuses the stop; the request waits until this is resolved: ${view.blocked.message}`;
  }
  if (view.alertedAt !== null && !seen?.alertedAt) return 'not archived after --alert-after; alerted';
  const steps = view.escalation.filter(({ state }) => state !== 'waiting');
  const known = seen?.escalation ?? [];
  const step = steps.find((one) => one.state !== known.find(({ afterMs }) => afterMs === one.afterMs)?.state);
  if (step) return escalationStepText(step);
  if (view.failed && view.failed.lastAttemptAt !== seen?.failed?.lastAttemptAt) {
    return `an attempt failed; the service retries: ${view.failed.lastError ?? 'it gave no reason'}`;
  }
  return undefined;
}

/** What a step of the escalation did or will do: `30m: notify: done`. */
export function escalationStepText({ state, dueAt, atRisk, why, endedAt, ...step }: EscalationStepView): string {
  const when =
    state === 'waiting' ? (dueAt === null ? '' : `, due at ${dueAt}`) : endedAt === null ? '' : ` at ${endedAt}`;
  const reason = why === null ? '' : ` (${why})`;
  const risk = state === 'announced' && atRisk !== null ? `. ${atRisk}` : '';
  return `escalation "${stepText(step)}" ${state}${when}${reason}${risk}`;
}

/** Says what continues, and names the command that waits for the same requests. It requests no stop twice. */
export function reattachHint(
  left: readonly { readonly sandboxId: string; readonly error: JobError | null }[],
  { requestId }: StopRequest,
): string {
  const request = shellWord(requestId);
  const one = left.length === 1;
  const ids = left.map(({ sandboxId }) => pasteable(sandboxId, 'SANDBOX')).join(' ');
  const again = `${programName} stop ${ids} --wait --request ${request}`;
  const missing = left.filter(({ error }) => error !== null).length;
  const going = left.length - missing;
  const several = `${going} stops continue`;
  if (missing === 0)
    return `Detached; ${going === 1 ? 'the stop continues' : several}.\nWait for ${one ? 'it' : 'them'} again with: ${again}`;
  const some = `${going === 1 ? 'one stop continues' : several}, ${missing} not requested`;
  const state = going === 0 ? 'no stop was requested' : some;
  return `Interrupted; ${state}.\nRequest ${missing === 1 ? 'it' : 'them'} with: ${again}`;
}
