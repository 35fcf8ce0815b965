import type { EndpointName } from '../contract/endpoints.js';
import { SandflowError } from '../contract/sandflow-error.js';

/** The call's deadline passed before the answer was whole. */
export class TimeoutError extends SandflowError {
  override readonly name = 'TimeoutError';

  constructor(
    readonly endpoint: EndpointName,
    /** False only when certainly no byte of the request was handed to a socket; then the call had no effect. */
    readonly requestSent: boolean,
    readonly timeoutMs: number,
  ) {
    super(
      'timeout',
      requestSent
        ? `${endpoint}: no whole answer within ${timeoutMs} ms; the call may have taken effect.`
        : `${endpoint}: no connection within ${timeoutMs} ms; the call was not sent.`,
    );
  }
}
