/** Reads the status of the stack of a home. Starts nothing, and loads no heavy module. */
import { askSupervisor } from '../../supervisor/control-client.js';
import type { StackStatus } from '../../supervisor/control-protocol.js';
import { stackPaths } from '../../supervisor/stack-paths.js';

/** @returns undefined if no supervisor answers */
export async function readStatus(home: string): Promise<StackStatus | undefined> {
  return askSupervisor(stackPaths(home).stateFile, 'status');
}
