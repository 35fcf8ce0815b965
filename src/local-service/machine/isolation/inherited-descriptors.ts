/**
 * Descriptors that the service was started with, such as an editor's or a script's, go on to all that it starts: one of a
 * folder is a way out of every isolation. Node closes its own descriptors in children.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const closeOnExec = 0o2_000_000;

let found: readonly number[] | undefined;

/** Those above `last` that a child would have. They exist from the start of the process or never, so they are listed once. */
export function inheritedDescriptors(last: number): readonly number[] {
  found ??= descriptors().filter(goesOn);
  return found.filter((descriptor) => descriptor > last);
}

/** Replaces each by a pipe, since Node cannot close descriptors in a child; `endPlaceholders` closes the pipes. */
export function withPlaceholders(stdio: readonly ('pipe' | 'ignore')[], inherited: readonly number[]): StdioOptions {
  const all = [...stdio];
  for (const descriptor of inherited) {
    // What is ignored beyond the first three is left as it is.
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
  } catch {
    // What the listing itself had opened, or no /proc.
    return false;
  }
}

function descriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}
