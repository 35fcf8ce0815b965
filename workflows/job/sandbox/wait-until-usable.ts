/** Waits until a sandbox is usable, and reports why if it cannot be used. */
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import { confirmMissing } from '../../shared/confirm-missing.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import type { InboxMark } from '../../shared/event-inbox.js';
import { sandboxFailed } from '../../shared/job-termination.js';
import { reads } from '../../shared/reads.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { until } from '../../shared/until.js';
import type { JobState } from '../job-state.js';

/**
 * - `cancelled`: the service reports that it found no machine; no sandbox exists.
 * - `gone`: the sandbox was not found for longer than a read may lag. It may still exist (trap S5).
 * - `foreign`: the answer to the create was about somebody else's sandbox, not about the job's.
 */
export type UsableOrNot = 'usable' | 'cancelled' | 'gone' | 'foreign';

/** A sandbox that the job created: the requested name and the first answer of the service. */
export interface OwnSandbox {
  readonly name: string;
  readonly created: SandboxView;
}

type Seen = UsableOrNot | 'error';

/** Options of every wait of a job: events of the sandbox wake the wait, and a long history ends it. */
export function waitOptions(job: JobState) {
  const { inbox, timing, onWake, mustContinueAsNew } = job;
  return { inbox, timing, onWake, leave: { when: mustContinueAsNew, by: () => new ContinueAsNewRequest() } };
}

/**
 * @param since a mark of the inbox, taken before the call that makes the sandbox usable
 * @throws JobTermination `sandbox_failed` if the sandbox stays in `error`, or somebody else stopped it
 */
export async function waitUntilUsable(
  job: JobState,
  sandboxId: string,
  options: { readonly since: InboxMark; readonly readFirst?: boolean; readonly own?: OwnSandbox },
): Promise<UsableOrNot> {
  job.enter('waiting_for_sandbox');
  const { own } = options;
  const lag = new Lag(job.timing.readLagMs);
  const seen = await until<Seen>(sandboxId, {
    ...waitOptions(job),
    ...options,
    waitedFor: 'usable',
    wakeOn: ['sandbox.ready', 'sandbox.error', 'sandbox.archived'],
    read: () => check(job, sandboxId, { lag, own }),
    // The event is enough, because the next prompt would detect a wrong state. If the event has the expected name, the
    // sandbox is the job's own.
    believe: ({ type, sandboxName }) =>
      type === 'sandbox.ready' && (own === undefined || sandboxName === own.name) ? 'usable' : undefined,
  });
  if (seen !== 'error') return seen ?? 'gone';
  // `sandbox.error` is not final: the service may recover the sandbox, and then sends `sandbox.ready`.
  const recovered = await until<UsableOrNot>(sandboxId, {
    ...waitOptions(job),
    waitedFor: 'recovered',
    wakeOn: ['sandbox.ready'],
    since: job.inbox.mark(),
    limitMs: job.timing.errorGraceMs,
    read: async () => {
      const now = await check(job, sandboxId, { lag, own });
      return now === 'error' ? undefined : now;
    },
  });
  if (recovered) return recovered;
  const reason = job.sandbox?.error ?? 'no reason given';
  throw sandboxFailed('sandbox_error', `The sandbox is in error: ${reason}`);
}

/**
 * Ignores stale reads: an observation counts only if it lasts for longer than a read may lag behind a write.
 */
export class Lag {
  private readonly firstSeenAtMs = new Map<string, number>();

  constructor(private readonly readLagMs: number) {}

  /** @param what the current observation; a different one starts the time again */
  lasts(what: string): boolean {
    const sinceMs = this.firstSeenAtMs.get(what) ?? Date.now();
    this.firstSeenAtMs.clear();
    this.firstSeenAtMs.set(what, sinceMs);
    return Date.now() - sinceMs >= this.readLagMs;
  }

  /** How long the current observation must still last before it counts, in ms. */
  remainingMs(): number {
    const [sinceMs = Date.now()] = this.firstSeenAtMs.values();
    return Math.max(0, sinceMs + this.readLagMs - Date.now());
  }

  over(): void {
    this.firstSeenAtMs.clear();
  }
}

async function check(
  job: JobState,
  sandboxId: string,
  { lag, own }: { readonly lag: Lag; readonly own: OwnSandbox | undefined },
): Promise<Seen | undefined> {
  const sandbox = await readSandbox(job, sandboxId);
  if (sandbox === null) return lag.lasts('missing') ? 'gone' : undefined;
  if (own && sandbox.state !== 'cancelled' && !isOwn(sandbox, own)) return 'foreign';
  const { state, stop } = sandbox;
  if (state === 'cancelled') return 'cancelled';
  if (state === 'archived' || state === 'archiving') {
    // A stale read may show the state before the resume. If there is a new stop, somebody else requested it.
    const isNew = stop !== null && stop.id !== job.carried.previousStopId;
    if (isNew || lag.lasts('stopped'))
      throw sandboxFailed('sandbox_stopped', 'The sandbox was stopped before it could be used');
    return undefined;
  }
  if (!isUsable(state) && !isCreating(state) && state !== 'error') {
    // An unknown state: the next prompt shows whether the sandbox accepts prompts.
    return lag.lasts(state) ? 'usable' : undefined;
  }
  lag.over();
  if (isUsable(state)) return 'usable';
  return state === 'error' ? 'error' : undefined;
}

/**
 * If the names differ, compares creation times: somebody may have renamed the sandbox, or the service may not keep
 * names.
 */
export function isOwn(seen: SandboxView, { name, created }: OwnSandbox): boolean {
  if (seen.name === name) return true;
  if (seen.createdAt !== null && created.createdAt !== null) return seen.createdAt === created.createdAt;
  return seen.name === created.name;
}

/**
 * Reads the sandbox and records it in the state. Returns null if it does not exist, or if the read lags behind its
 * creation.
 */
export async function readSandbox(job: JobState, sandboxId: string): Promise<SandboxView | null> {
  const sandbox = await retryRefusals(job, 'read', () => reads.getSandbox(sandboxId));
  if (sandbox && sandbox.state !== 'cancelled') job.sandbox = sandbox;
  return sandbox;
}

/** Reads the sandbox until a read finds it. Returns null if none does for longer than a read may lag. */
export function confirmSandboxMissing(job: JobState, sandboxId: string): Promise<SandboxView | null> {
  return confirmMissing(job.timing.readLagMs, () => readSandbox(job, sandboxId));
}
