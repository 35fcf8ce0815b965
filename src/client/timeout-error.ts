import { SandflowError } from '../contract/sandflow-error.js';
import type { CallName } from './call-options.js';

const sentTexts = {
  whole: (ms: number) => `no whole answer within ${ms} ms; the call may have taken effect.`,
  silence: (ms: number) => `nothing came for ${ms} ms, and the answer was not whole; the call may have taken effect.`,
};
const unsentText = (ms: number) => `no connection within ${ms} ms; the call was not sent.`;

/** The call's deadline passed before the answer was whole. */
export class TimeoutError extends SandflowError {
  override readonly name = 'TimeoutError';

  constructor(
    readonly endpoint: CallName,
    /** False only when certainly no byte of the request was handed to a socket; then the call had no effect. */
    readonly requestSent: boolean,
    readonly timeoutMs: number,
    /** What lasted too long: the call as a whole, or the silence within a download. */
    kind: 'whole' | 'silence' = 'whole',
  ) {
    super('timeout', `${endpoint}: ${requestSent ? sentTexts[kind](timeoutMs) : unsentText(timeoutMs)}`);
  }
}
