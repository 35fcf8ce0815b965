/** A request to stop, in words. Pure. */
import type { JobError } from '../../../workflows/job/types.js';
import type { StopOutcome, StopRequestView } from '../../../workflows/stop/types.js';
import { keptTexts } from '../output/kept-text.js';

/** How the command's part in one sandbox ended. */
export type StopEnd =
  | { readonly kind: 'seen'; readonly view: StopRequestView }
  /** Ctrl-C came first. */
  | { readonly kind: 'left' }
  | { readonly kind: 'failed'; readonly error: JobError; readonly exitCode: number };

const hints: Partial<Readonly<Record<StopOutcome, string>>> = {
  superseded: 'somebody has resumed it since, so it was not stopped again',
  gone: 'there is no such sandbox',
};

/** True where the request came to what was asked for. */
export function isGood(end: StopEnd, waited: boolean): boolean {
  if (end.kind !== 'seen') return false;
  const { outcome, stopId } = end.view;
  return outcome === null ? !waited && stopId !== null : outcome === 'archived' || outcome === 'already_archived';
}

export function endText(end: StopEnd): string {
  if (end.kind === 'left') return 'not waited for to its end';
  if (end.kind === 'failed') return `failed: ${end.error.message}`;
  return requestText(end.view);
}

/** Where a request is, or how it ended. */
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
    ? `not accepted yet, the service refuses: ${blocked.message}`
    : 'not accepted yet, the service does not answer or has not found the sandbox so far';
}

/** What a waiting person should hear of: news since what was `seen` before. */
export function newsText(view: StopRequestView, seen: StopRequestView | undefined): string | undefined {
  if (view.outcome !== null) return undefined;
  if (view.blocked && view.blocked.since !== seen?.blocked?.since) {
    return `the service refuses, and the request waits until that is mended: ${view.blocked.message}`;
  }
  if (view.alertedAt !== null && !seen?.alertedAt) return 'has not ended in time; whoever wants to know is told';
  if (view.failed && view.failed.lastAttemptAt !== seen?.failed?.lastAttemptAt) {
    return `an attempt failed, and the service tries again: ${view.failed.lastError ?? 'it gave no reason'}`;
  }
  return undefined;
}
