import { SandflowError } from '../contract/sandflow-error.js';
import type { CallName } from './call-options.js';

/** No response: the connection failed, or ended before the response was complete. */
export class ConnectionError extends SandflowError {
  override readonly name = 'ConnectionError';

  constructor(
    readonly endpoint: CallName,
    /** False only when certainly no byte of the request was handed to a socket; then the call had no effect. */
    readonly requestSent: boolean,
    /** What the network said, such as `ECONNREFUSED` or `UND_ERR_SOCKET`. */
    readonly reason: string,
  ) {
    super(
      'connection_failed',
      requestSent
        ? `${endpoint}: the connection ended before the answer was whole (${reason}); the call may have taken effect.`
        : `${endpoint}: no connection to the service (${reason}); the call was not sent. Check the base URL and the network.`,
    );
  }
}
