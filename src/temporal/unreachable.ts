/** The error for a Temporal server that does not answer or refuses us. */
import { SandflowError } from '../contract/sandflow-error.js';

const unauthenticated = /unauthenticated|unauthorized|permission.?denied|request unauthorized/i;

/** `temporal_unreachable`, with the address and what to do about it. */
export function unreachable(address: string, cause: unknown): SandflowError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = unauthenticated.test(reason)
    ? 'It refuses the credentials: check TEMPORAL_API_KEY, or the client certificate, and TEMPORAL_NAMESPACE.'
    : 'Check that it runs and that TEMPORAL_ADDRESS (host:port) and the TEMPORAL_TLS settings are right; ' +
      'without TEMPORAL_ADDRESS a server is started for you.';
  return new SandflowError('temporal_unreachable', `Temporal at ${address} cannot be reached. ${advice} (${reason})`, {
    cause,
  });
}
