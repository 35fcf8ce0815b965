/** Waits until a sandbox can be used, and says why where it cannot. */
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import { isCreating, isUsable } from '../../src/contract/states.js';
import { ContinueAsNewRequest } from '../shared/continue-as-new.js';
import type { InboxMark } from '../shared/event-inbox.js';
import { reads } from '../shared/proxies.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { until } from '../shared/until.js';
import type { JobState } from './state.js';
import { JobTermination, jobError } from './termination.js';

/**
 * - `cancelled`: the service said so: it found no machine, and there is nothing.
 * - `gone`: it was not found for longer than a read may lag. It may be there all the same (trap S5).
 * - `foreign`: it is not what the job has made: the answer to the create was about somebody else's.
 */
export type UsableOrNot = 'usable' | 'cancelled' | 'gone' | 'foreign';

/** What a job has made, as the service first answered, and the name that it asked for. */
export interface OwnSandbox {
  readonly name: string;
  readonly created: SandboxView;
}

type Seen = UsableOrNot | 'error';

/** How a job waits: woken by events of its sandbox, left where its history is long. */
export function waitOptions(run: JobState) {
  const { inbox, timing, onWake, mustGoOn } = run;
  return { inbox, timing, onWake, leave: { when: mustGoOn, by: () => new ContinueAsNewRequest() } };
}

/**
 * @param since taken before the call that makes the sandbox usable
 * @throws JobTermination `sandbox_failed` when it stays in `error`, or was stopped by somebody else
 */
export async function waitUntilUsable(
  run: JobState,
  sandboxId: string,
  options: { readonly since: InboxMark; readonly readFirst?: boolean; readonly own?: OwnSandbox },
): Promise<UsableOrNot> {
  run.enter('waiting_for_sandbox');
  const { own } = options;
  const lag = new Lag(run.timing.readLagMs);
  const seen = await until<Seen>(sandboxId, {
    ...waitOptions(run),
    ...options,
    waitedFor: 'usable',
    wakeOn: ['sandbox.ready', 'sandbox.error', 'sandbox.archived'],
    read: () => look(run, sandboxId, { lag, own }),
    // The prompt that follows finds out whether it still is. An event that names the job's own sandbox proves that it is that.
    believe: ({ type, sandboxName }) =>
      type === 'sandbox.ready' && (own === undefined || sandboxName === own.name) ? 'usable' : undefined,
  });
  if (seen !== 'error') return seen ?? 'gone';
  // `sandbox.error` is not the end: the service may recover it, and then sends `sandbox.ready`.
  const recovered = await until<UsableOrNot>(sandboxId, {
    ...waitOptions(run),
    waitedFor: 'recovered',
    wakeOn: ['sandbox.ready'],
    since: run.inbox.mark(),
    limitMs: run.timing.errorGraceMs,
    read: async () => {
      const now = await look(run, sandboxId, { lag, own });
      return now === 'error' ? undefined : now;
    },
  });
  if (recovered) return recovered;
  const reason = run.sandbox?.error ?? 'no reason given';
  throw new JobTermination('sandbox_failed', jobError('sandbox_error', `The sandbox is in error: ${reason}`));
}

/** What may be an old answer is believed when it has lasted for longer than a read may lag behind a write. */
export class Lag {
  private readonly firstSeenAtMs = new Map<string, number>();

  constructor(private readonly readLagMs: number) {}

  /** @param what was seen now; anything else that was seen before has not lasted */
  lasts(what: string): boolean {
    const sinceMs = this.firstSeenAtMs.get(what) ?? Date.now();
    this.firstSeenAtMs.clear();
    this.firstSeenAtMs.set(what, sinceMs);
    return Date.now() - sinceMs >= this.readLagMs;
  }

  over(): void {
    this.firstSeenAtMs.clear();
  }
}

async function look(
  run: JobState,
  sandboxId: string,
  { lag, own }: { readonly lag: Lag; readonly own: OwnSandbox | undefined },
): Promise<Seen | undefined> {
  const sandbox = await readSandbox(run, sandboxId);
  if (sandbox === null) return lag.lasts('missing') ? 'gone' : undefined;
  if (own && sandbox.state !== 'cancelled' && !isOwn(sandbox, own)) return 'foreign';
  const { state, stop } = sandbox;
  if (state === 'cancelled') return 'cancelled';
  if (state === 'archived' || state === 'archiving') {
    // One that is as it was before a resume may be an old answer; a stop that is new is somebody's.
    const isNew = stop !== null && stop.id !== run.previousStopId;
    if (isNew || lag.lasts('stopped')) throw stopped();
    return undefined;
  }
  if (!isUsable(state) && !isCreating(state) && state !== 'error') {
    // A state that nobody knows; whether the sandbox takes a prompt is the prompt's to say.
    return lag.lasts(state) ? 'usable' : undefined;
  }
  lag.over();
  if (isUsable(state)) return 'usable';
  return state === 'error' ? 'error' : undefined;
}

/** Somebody may have renamed it, and a service need not take names; when it was made nobody changes. */
export function isOwn(seen: SandboxView, { name, created }: OwnSandbox): boolean {
  if (seen.name === name) return true;
  if (seen.createdAt !== null && created.createdAt !== null) return seen.createdAt === created.createdAt;
  return seen.name === created.name;
}

function stopped(): JobTermination {
  return new JobTermination(
    'sandbox_failed',
    jobError('sandbox_stopped', 'The sandbox was stopped before it could be used'),
  );
}

/** Reads the sandbox and remembers what it saw; null when there is none, or when a read lags behind its making. */
export async function readSandbox(run: JobState, sandboxId: string): Promise<SandboxView | null> {
  const sandbox = await retryRefusals(run, 'read', () => reads.getSandbox(sandboxId));
  if (sandbox && sandbox.state !== 'cancelled') run.sandbox = sandbox;
  return sandbox;
}
