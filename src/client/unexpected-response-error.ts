import { SandflowError } from '../contract/sandflow-error.js';
import type { CallName } from './call-options.js';

/** The service answered 2xx with a body that lacks what callers need. Names the place and quotes no value. */
export class UnexpectedResponseError extends SandflowError {
  override readonly name = 'UnexpectedResponseError';

  constructor(
    readonly endpoint: CallName,
    readonly status: number,
    /** Path of the field, such as `sandbox.state`; `body` for the whole. */
    readonly field: string,
    problem: string,
  ) {
    super('unexpected_response', `${endpoint} answered ${status}, but \`${field}\` of its response ${problem}.`);
  }
}
