/** Why a script of a sandbox failed, for its record. */
import { withoutThese } from '../../../src/secrecy/known-secrets.js';
import type { CommandOutcome } from '../machine/shell/run-command.js';

const tail = 2_000;
/** More than the longest variable, so that no part of a secret is left when the text is cut. */
const searched = 128 * 1024;

/**
 * How it ended, and the tail of its stderr without the values of its variables. Many scripts print a login, as in the
 * address that `git clone` could not reach. But whoever may see a private sandbox of a teammate, and webhooks, get the
 * text.
 * @param env the variables that the script had
 * @returns null if it did not fail
 */
export function whyItFailed(
  { exitCode, timedOut, stderr }: Pick<CommandOutcome, 'exitCode' | 'timedOut' | 'stderr'>,
  env: Readonly<Record<string, string>>,
): string | null {
  if (exitCode === 0) return null;
  const killed = timedOut ? 'it took too long' : 'killed by a signal';
  const end = exitCode === null ? killed : `exit code ${exitCode}`;
  return `${end}: ${withoutThese(Object.values(env), stderr.slice(-searched)).slice(-tail)}`;
}
