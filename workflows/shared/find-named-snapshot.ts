/** Finds the snapshot that a create by name would use, and the sandbox that holds it. */
import type { SourceState } from '../../src/contract/workflow-safe/source-state.js';
import { serviceFailureOf } from './job-termination.js';
import { reads } from './reads.js';
import { type Caller, retryRefusals } from './retry-refusals.js';

/** What the name of a snapshot stands for; null if the service does not show it. */
export async function findNamedSnapshot(caller: Caller, name: string): Promise<SourceState | null> {
  try {
    return await retryRefusals(caller, 'read', () => reads.findNamedSnapshot(name));
  } catch (error) {
    // A key that may not list snapshots may still create from one.
    if (serviceFailureOf(error) === undefined) throw error;
    return null;
  }
}
