/** Finds the protected sandboxes whose data is about to expire. Pure. */

import { dataKeptMs } from '../contract/workflow-safe/limits.js';
import type { ExpiryWarning, SandboxFacts } from '../protocol/cleanup-plan.js';
import type { CleanupPolicy } from '../protocol/cleanup-policy.js';
import { isDate } from '../texts/is-date.js';
import { fitsAny } from './glob.js';
import type { Candidate } from './match.js';

/**
 * When the service deletes the data of a stopped sandbox; undefined while the sandbox runs, and if there is no data.
 */
export function dataExpiresAtMs({ state, stoppedAt, dataExpiredAt, saved }: SandboxFacts): number | undefined {
  if (state !== 'archived' || stoppedAt === null || dataExpiredAt !== null || saved === 'none') return undefined;
  const ms = Date.parse(stoppedAt) + dataKeptMs;
  return isDate(ms) ? ms : undefined;
}

/** The warnings that are due, the soonest expiry first. */
export function warningsOf(policy: CleanupPolicy, candidates: readonly Candidate[], nowMs: number): ExpiryWarning[] {
  const { protect, warnBeforeExpiryMs } = policy;
  if (warnBeforeExpiryMs === null) return [];
  return candidates
    .filter(({ facts }) => facts.name !== null && fitsAny(protect, facts.name))
    .flatMap(({ facts }) => {
      const atMs = dataExpiresAtMs(facts);
      if (atMs === undefined || atMs - nowMs > warnBeforeExpiryMs) return [];
      return [{ sandboxId: facts.id, name: facts.name, dataExpiresAt: new Date(atMs).toISOString() }];
    })
    .sort((a, b) => Date.parse(a.dataExpiresAt) - Date.parse(b.dataExpiresAt));
}
