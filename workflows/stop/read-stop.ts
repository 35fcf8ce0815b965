/** Reads the sandbox of a job and its requested stop until the two reads are consistent. */
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isUsable } from '../../src/contract/workflow-safe/states.js';
import type { JobState } from '../job/job-state.js';
import { readSandbox } from '../job/sandbox/wait-until-usable.js';
import { confirmMissing } from '../shared/confirm-missing.js';
import { reads } from '../shared/reads.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { type ObservedStop, observedLastStop, observedStop } from './stop-outcome.js';

type Ended = Extract<ObservedStop, { kind: 'done' | 'superseded' }>;

/** `mayLag`: the observation is final only if it lasts for longer than a read may lag behind a write. */
export type StopObservation =
  | Exclude<ObservedStop, Ended>
  | (Ended & { readonly sandbox: SandboxView; readonly mayLag: boolean });

/**
 * @returns what the newest reads mean; an observation that may lag is returned only once it has lasted long enough to
 * be final
 */
export function observeStop(run: JobState, sandboxId: string, stopId: string): Promise<StopObservation> {
  const mayLag = (seen: StopObservation) => 'mayLag' in seen && seen.mayLag;
  return confirmMissing(run.timing.readLagMs, () => observeOnce(run, sandboxId, stopId), mayLag);
}

async function observeOnce(run: JobState, sandboxId: string, stopId: string): Promise<StopObservation> {
  const sandbox = await readSandbox(run, sandboxId);
  if (sandbox === null) return { kind: 'gone', mayLag: true };
  if (sandbox.state === 'cancelled') return { kind: 'gone', mayLag: false };
  const last = sandbox.stop;
  const stop = last?.id === stopId ? last : await readStop(run, sandboxId, stopId);
  const seen = observedStop(stop, sandbox);
  const observed = seen.kind === 'superseded' ? observedLastStop(seen.stop, sandbox) : seen;
  if (observed.kind !== 'done' && observed.kind !== 'superseded') return observed;
  const isOlder = isUsable(sandbox.state) && (last?.id ?? null) === run.stopRequest.asked?.previousStopId;
  return { ...observed, sandbox, mayLag: isOlder };
}

export function readStop(run: JobState, sandboxId: string, stopId: string): Promise<StopView | null> {
  return retryRefusals(run, 'read', () => reads.getStop(sandboxId, stopId));
}
