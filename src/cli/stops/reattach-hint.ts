/** Builds the command that resumes an interrupted wait. Pure. */
import type { StopSelection } from './options.js';

/** The command that waits for the same requests again; it requests nothing twice. */
export function reattachHint(sandboxIds: readonly string[], { requestId }: StopSelection): string {
  const request = /^[\w.:-]+$/.test(requestId) ? requestId : `'${requestId.replaceAll("'", "'\\''")}'`;
  const one = sandboxIds.length === 1;
  return [
    `Detached; ${one ? 'the stop continues' : `${sandboxIds.length} stops continue`}.`,
    `Wait for ${one ? 'it' : 'them'} again with: sandflow stop ${sandboxIds.join(' ')} --wait --request ${request}`,
  ].join('\n');
}
