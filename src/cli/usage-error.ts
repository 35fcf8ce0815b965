/** Errors in the command line's arguments and in the configuration. */

import { isSandboxId, sandboxIdAlphabet } from '../contract/workflow-safe/ids.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { programName } from './program-name.js';

/** Ends the command with exit code 2, before anything is started. */
export class UsageError extends SandflowError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('bad_usage', message, options);
  }
}

export function badConfiguration(message: string, cause?: unknown): SandflowError {
  return new SandflowError('bad_configuration', message, { cause });
}

/** @throws UsageError if `--watch-deadline` limits a watch that `--detach` leaves out */
export function requireWatch(options: {
  readonly detach?: boolean;
  readonly watchDeadline?: string | undefined;
}): void {
  if (!options.detach || options.watchDeadline === undefined) return;
  throw new UsageError('Use --detach or --watch-deadline, not both: with --detach, nothing is watched.');
}

/**
 * Also the parser of an argument.
 * @param option name of the option; undefined for a positional argument
 * @returns the same id
 * @throws UsageError unless `id` is the id of a sandbox
 */
export function requireSandboxId(id: string, option?: string): string {
  if (isSandboxId(id)) return id;
  const wrong = /^bx_[0-9a-z]{8}$/.test(id)
    ? [...id.slice(3)].find((one) => !sandboxIdAlphabet.includes(one))
    : undefined;
  const why = wrong === undefined ? '' : `: no id has the character ${wrong}`;
  if (option) throw new UsageError(`${option}: "${id}" is not a sandbox id, like bx_2345abcd${why}.`);
  throw new UsageError(`"${id}" is not a sandbox id${why}. \`${programName} sandboxes\` lists them.`);
}
