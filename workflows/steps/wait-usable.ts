/** Waits until a sandbox can be used, and says why where it cannot. */
import { sleep } from '@temporalio/workflow';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import { isUsable } from '../../src/contract/states.js';
import type { InboxMark } from '../event-inbox.js';
import { reads } from '../proxies.js';
import { until } from '../until.js';
import { JobEnded, jobError } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { patiently } from './patiently.js';

/** `no_machine`: it became `cancelled`, or is gone, which after a create means the same (trap S5). */
export type UsableOrNot = 'usable' | 'no_machine';

type Seen = UsableOrNot | 'error';

/** A 404 is taken for the truth when it is still there after so long. */
const confirmGoneMs = 2_000;

/**
 * @param since taken before the call that makes the sandbox usable
 * @throws JobEnded `sandbox_failed` when it stays in `error`, or was stopped by somebody else
 */
export async function waitUsable(
  run: JobRun,
  sandboxId: string,
  options: { readonly since: InboxMark; readonly readFirst?: boolean },
): Promise<UsableOrNot> {
  run.enter('waiting_for_sandbox');
  const wait = { inbox: run.inbox, timing: run.timing, onWake: run.onWake };
  const seen = await until<Seen>(sandboxId, {
    ...wait,
    ...options,
    waitedFor: 'usable',
    wakeOn: ['sandbox.ready', 'sandbox.error', 'sandbox.archived'],
    read: () => look(run, sandboxId),
    // The prompt that follows finds out whether it still is.
    believe: (event) => (event.type === 'sandbox.ready' ? 'usable' : undefined),
  });
  if (seen !== 'error') return seen ?? 'no_machine';
  // `sandbox.error` is not the end: the service may recover it, and then sends `sandbox.ready`.
  const recovered = await until<UsableOrNot>(sandboxId, {
    ...wait,
    waitedFor: 'recovered',
    wakeOn: ['sandbox.ready'],
    since: run.inbox.mark(),
    limitMs: run.timing.errorGraceMs,
    read: async () => {
      const now = await look(run, sandboxId);
      return now === 'error' ? undefined : now;
    },
  });
  if (recovered) return recovered;
  const reason = run.sandbox?.error ?? 'no reason given';
  throw new JobEnded('sandbox_failed', jobError('sandbox_error', `The sandbox is in error: ${reason}`));
}

async function look(run: JobRun, sandboxId: string): Promise<Seen | undefined> {
  const sandbox = (await readSandbox(run, sandboxId)) ?? (await readAgain(run, sandboxId));
  if (sandbox === null || sandbox.state === 'cancelled') return 'no_machine';
  if (isUsable(sandbox.state)) return 'usable';
  if (sandbox.state === 'error') return 'error';
  const stoppedByOthers = sandbox.stop !== null && sandbox.stop.id !== run.previousStopId;
  if ((sandbox.state === 'archived' || sandbox.state === 'archiving') && stoppedByOthers) {
    throw new JobEnded(
      'sandbox_failed',
      jobError('sandbox_stopped', 'The sandbox was stopped before it could be used'),
    );
  }
  return undefined;
}

async function readAgain(run: JobRun, sandboxId: string): Promise<SandboxView | null> {
  await sleep(confirmGoneMs);
  return readSandbox(run, sandboxId);
}

/** Reads the sandbox and remembers what it saw; null when there is none. */
export async function readSandbox(run: JobRun, sandboxId: string): Promise<SandboxView | null> {
  const sandbox = await patiently(run, 'read', () => reads.getSandbox(sandboxId));
  if (sandbox && sandbox.state !== 'cancelled') run.sandbox = sandbox;
  return sandbox;
}
