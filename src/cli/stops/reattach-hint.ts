/** How to come back to requests that somebody stopped waiting for. Pure. */
import type { StopSelection } from './options.js';

/** The command that takes up the wait for the same requests: it asks for nothing twice. */
export function reattachHint(sandboxIds: readonly string[], { requestId }: StopSelection): string {
  const request = /^[\w.:-]+$/.test(requestId) ? requestId : `'${requestId.replaceAll("'", "'\\''")}'`;
  const one = sandboxIds.length === 1;
  return [
    `Detached; ${one ? 'the stop goes' : `${sandboxIds.length} stops go`} on.`,
    `Take up the wait with: sandflow stop ${sandboxIds.join(' ')} --wait --request ${request}`,
  ].join('\n');
}
