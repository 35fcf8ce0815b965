/** The budget of a chunk: the amount that an item reserves before it starts, and the amount that remains. Pure. */

import type { ChunkInput } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, MachineType } from '../../../src/protocol/fanout/fanout-input.js';
import { longestMachineSeconds } from '../../../src/protocol/fanout/longest-machine-seconds.js';

type Terms = Pick<ChunkInput, 'policy' | 'sourceType' | 'timing'>;

/**
 * Accounts count in units of this fraction of a second. Sums of such units are exact, and sums of arbitrary fractions
 * are not.
 */
const stepsInSecond = 1_024;

/** Rounds machine-seconds up to the unit of the accounts. */
export function accounted(seconds: number): number {
  return Math.ceil(seconds * stepsInSecond) / stepsInSecond;
}

export function typeOf(item: Pick<FanoutItem, 'type'>, { policy, sourceType }: Terms): MachineType {
  return item.type ?? policy.type ?? sourceType;
}

/** The machine-seconds that an item reserves before its fork. */
export function reservedSeconds(item: Pick<FanoutItem, 'type' | 'deadlineMs'>, terms: Terms): number {
  const deadlineMs = item.deadlineMs ?? terms.policy.itemDeadlineMs;
  return accounted(longestMachineSeconds(typeOf(item, terms), deadlineMs, terms.timing?.cleanUpMs));
}

/** Machine-seconds that the running items have reserved. */
export function reservedBy(running: readonly { readonly costSeconds: number }[]): number {
  return running.reduce((sum, { costSeconds }) => sum + costSeconds, 0);
}

/**
 * Machine-seconds that items may still reserve; null without a limit. An item starts only if its reservation is not
 * larger.
 */
export function freeSeconds(
  budgetSeconds: number | null,
  { spentSeconds, reservedSeconds: reserved }: { readonly spentSeconds: number; readonly reservedSeconds: number },
): number | null {
  return budgetSeconds === null ? null : budgetSeconds - spentSeconds - reserved;
}
