/** Reads the status of the stack of a home. Starts nothing, and loads no heavy module. */
import { existsSync } from 'node:fs';
import { askSupervisor } from '../../supervisor/control-client.js';
import type { StackStatus } from '../../supervisor/control-protocol.js';
import { type StackPaths, stackPaths } from '../../supervisor/stack-paths.js';
import { readStackRecord, type StackRecord } from '../../supervisor/stack-record.js';

/** False if the home has never had a stack. Then no file is created in it. */
export function hasEverRun({ lockFile }: Pick<StackPaths, 'lockFile'>): boolean {
  return existsSync(lockFile);
}

/** @returns undefined if the last stack of the home has ended in order, or one runs and has not written its record */
export function readEnded(home: string): Promise<StackRecord | undefined> {
  return readStackRecord(stackPaths(home).recordFile);
}

/** @returns undefined if no supervisor answers */
export async function readStatus(home: string): Promise<StackStatus | undefined> {
  return askSupervisor(stackPaths(home).stateFile, 'status');
}
