/**
 * Children inherit the descriptors that the service itself inherited, such as those of an editor or a script. A
 * descriptor of a folder is a way out of every isolation. Node closes only its own descriptors in children.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2_000_000;

let found: readonly number[] | undefined;

/**
 * The descriptors above `last` that a child would inherit, in their order. They are listed once, because none is added
 * after the start.
 * @throws the error of the system if they cannot be listed, such as EMFILE: a child must not inherit what was not seen
 */
export function inheritedDescriptors(last: number): readonly number[] {
  found ??= descriptors()
    .filter(goesOn)
    .sort((a, b) => a - b);
  return found.filter((descriptor) => descriptor > last);
}

/**
 * Replaces each inherited descriptor with a pipe, since Node cannot close descriptors in a child. `endPlaceholders`
 * closes the pipes.
 */
export function withPlaceholders(stdio: readonly ('pipe' | 'ignore')[], inherited: readonly number[]): StdioOptions {
  const all = [...stdio];
  for (const descriptor of inherited) {
    // Beyond the first three descriptors, `ignore` leaves a descriptor as it is.
    while (all.length < descriptor) all.push('ignore');
    all[descriptor] = 'pipe';
  }
  return all;
}

export function endPlaceholders(child: ChildProcess, inherited: readonly number[]): void {
  for (const descriptor of inherited) child.stdio[descriptor as 3]?.destroy();
}

function goesOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch (error) {
    // The descriptor was that of the listing itself.
    if (isMissing(error)) return false;
    throw error;
  }
}

function descriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch (error) {
    // There is no /proc.
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
