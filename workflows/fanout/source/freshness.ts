/** Decides whether a fork of a sandbox would contain its latest content. Pure. */

import { type PreservedWork, preservedWorkOf } from '../../../src/contract/workflow-safe/preserved-work.js';
import type { SandboxView, StopView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import type { JobErrorCode, ResultErrorCode } from '../../../src/protocol/result-error-codes.js';
import { jobError } from '../../shared/job-termination.js';

/** What to do with a source before it is forked. */
export type Freshness =
  | { readonly kind: 'fork' }
  | { readonly kind: 'stop' }
  /** Wait until the source is usable, or archived. */
  | { readonly kind: 'wait_usable' | 'wait_archived' }
  | { readonly kind: 'refuse'; readonly error: JobError };

export interface FreshnessOptions {
  readonly allowStale: boolean;
  /** The last stop of the source, read by its own id; null if it was never stopped. */
  readonly lastStop: StopView | null;
  /** The workflow that uses the source, or null. */
  readonly usedBy: string | null;
}

const hint = 'or allow a stale source (`--allow-stale`) to fork what is already saved';

export const usedMessage = (usedBy: string) => `is used by ${usedBy}. Wait until that has ended, ${hint}.`;

/**
 * A usable source is stopped first, even if its snapshot is recent. Commands and SSH do not change the record, so no
 * field shows when it was last used (trap S11). An archived source is fresh if its snapshot was taken, or confirmed,
 * after its last stop was requested.
 */
export function freshnessOf(sandbox: SandboxView, options: FreshnessOptions): Freshness {
  const { allowStale, usedBy } = options;
  const refuse = (code: JobErrorCode, message: string): Freshness => ({
    kind: 'refuse',
    error: jobError(code, `The source ${sandbox.id} ${message}`),
  });
  const { state } = sandbox;
  if (sandbox.dataExpiredAt) {
    const message = `has no data: the service deleted it on ${sandbox.dataExpiredAt}, 14 days after its stop. Fork from another sandbox.`;
    return refuse('snapshot_data_expired', message);
  }
  if (state === 'archiving') return { kind: 'wait_archived' };
  if (isCreating(state)) return { kind: 'wait_usable' };
  if (state !== 'archived' && !isUsable(state)) {
    return refuse('source_not_ready', `is ${state}${sandbox.error ? `: ${sandbox.error}` : ''}. Repair or replace it.`);
  }
  if (allowStale) return forkOrNothing(sandbox) ?? { kind: 'fork' };
  if (sandbox.hydrated === false) {
    const wait = state === 'archived' ? 'Resume it until it is hydrated and stop it' : 'Wait until it is hydrated';
    const message = `does not have all the files of its snapshot yet, so its next snapshot would be incomplete. ${wait}, ${hint}.`;
    return refuse('source_not_hydrated', message);
  }
  if (state === 'archived') return archivedFreshness(sandbox, options.lastStop, refuse);
  if (sandbox.snapshots === false) {
    return refuse(
      'source_keeps_nothing',
      'was created with snapshots off: a stop would lose its data. Allow a stale source (`--allow-stale`) to fork it while it runs.',
    );
  }
  if (state === 'running') {
    return refuse(
      'source_in_use',
      `has a running agent, which a stop would interrupt. Wait until it is idle or stop it, ${hint}.`,
    );
  }
  if (usedBy !== null) {
    return refuse('source_in_use', usedMessage(usedBy));
  }
  return { kind: 'stop' };
}

function archivedFreshness(
  sandbox: SandboxView,
  lastStop: StopView | null,
  refuse: (code: JobErrorCode, message: string) => Freshness,
): Freshness {
  const nothing = forkOrNothing(sandbox);
  if (nothing) return nothing;
  const error = staleness(sandbox.id, preservedWorkOf(sandbox, lastStop ?? neverStopped));
  return error ? refuse(error.code, error.message) : { kind: 'fork' };
}

const neverStopped = { requestedAt: null };

/** Why the snapshot of a stop may lack the latest work, or null if it contains all of it. */
export function staleness(
  sandboxId: string,
  kept: PreservedWork | null,
): { readonly code: ResultErrorCode; readonly message: string } | null {
  if (kept === 'saved') return null;
  if (kept === 'none')
    return { code: 'source_keeps_nothing', message: 'has no snapshot, so there is nothing to fork.' };
  const how = `Resume ${sandboxId} and stop it again, ${hint}.`;
  if (kept === 'stale') {
    return {
      code: 'source_stale',
      message: `was not saved after its last work: its last snapshot failed or is older. ${how}`,
    };
  }
  return { code: 'source_unknown', message: `may be stale: the service does not say when it was last saved. ${how}` };
}

function forkOrNothing({ id, state, snapshotAvailable }: SandboxView): Freshness | null {
  if (state !== 'archived' || snapshotAvailable !== false) return null;
  return {
    kind: 'refuse',
    error: jobError('source_keeps_nothing', `The source ${id} has no snapshot, so there is nothing to fork.`),
  };
}
