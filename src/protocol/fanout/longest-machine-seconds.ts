import { type MachineType, machineSeconds } from '../../contract/workflow-safe/machine-types.js';
import { defaultCleanUpMs } from '../limits.js';

/**
 * The machine-seconds that an item of a batch reserves before its fork: its deadline plus its cleanup time, which is the
 * longest time that its machine may run.
 */
export function longestMachineSeconds(type: MachineType, deadlineMs: number, cleanUpMs = defaultCleanUpMs): number {
  return machineSeconds(type, deadlineMs + cleanUpMs);
}
