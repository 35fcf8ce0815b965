import { existsSync } from 'node:fs';
import { SandflowError } from '../errors/sandflow-error.js';

/**
 * Temporal's server and the native part of its workers read /proc, and without it fail with an error that does not say so.
 * @param file one that every /proc shows, unless it is limited to processes
 * @throws SandflowError `bad_configuration`
 */
export function requireProc(file = '/proc/meminfo'): void {
  if (process.platform !== 'linux' || existsSync(file)) return;
  const mend = 'Mount it with `mount -t proc proc /proc`, or remove `ProcSubset=pid` from the unit of systemd';
  throw new SandflowError('bad_configuration', `A worker needs /proc, and there is no ${file} here. ${mend}.`);
}
