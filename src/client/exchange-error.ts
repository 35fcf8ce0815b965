/** What an error of undici means for the call that it ended. */
import { SandflowError } from '../contract/sandflow-error.js';
import type { CallName } from './call-options.js';
import { ConnectionError } from './connection-error.js';

/** @param sent whether a byte of the request can have left */
export function exchangeError(endpoint: CallName, error: Error, sent: boolean): SandflowError {
  const reason = reasonOf(error);
  if (reason !== 'UND_ERR_INVALID_ARG') return new ConnectionError(endpoint, sent, reason);
  return new SandflowError('bad_argument', `${endpoint}: a header or the path holds characters that cannot be sent.`);
}

/** The code of an error of undici or of the system. The error itself may hold bytes of the response. */
function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
