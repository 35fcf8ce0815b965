/** What an item may cost at most. Pure. */
import { machineSeconds } from '../../../src/contract/machine-types.js';
import { defaultTiming } from '../../shared/timing.js';
import type { ChunkInput } from '../protocol.js';
import type { FanoutItem, MachineType } from '../types.js';

type Terms = Pick<ChunkInput, 'policy' | 'sourceType' | 'timing'>;

/** Accounts are kept in steps of this part of a second: sums of such steps are exact, those of fractions are not. */
const stepsInSecond = 1_024;

/** Rounds machine-seconds up to what accounts are kept in. */
export function accounted(seconds: number): number {
  return Math.ceil(seconds * stepsInSecond) / stepsInSecond;
}

export function typeOf(item: Pick<FanoutItem, 'type'>, { policy, sourceType }: Terms): MachineType {
  return item.type ?? policy.type ?? sourceType;
}

/**
 * What is reserved for an item before its fork, in machine-seconds: its deadline and the time that its clean-up may
 * take after that, since its machine runs as long.
 */
export function reservedSeconds(item: Pick<FanoutItem, 'type' | 'deadlineMs'>, terms: Terms): number {
  const deadlineMs = item.deadlineMs ?? terms.policy.itemDeadlineMs;
  const cleanUpMs = terms.timing?.cleanUpMs ?? defaultTiming.cleanUpMs;
  return accounted(machineSeconds(typeOf(item, terms), deadlineMs + cleanUpMs));
}
