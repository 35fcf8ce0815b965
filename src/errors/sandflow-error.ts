/**
 * The root of every error that sandflow throws on purpose. No dependencies: workflow code may import this file.
 */

import type { SandflowErrorCode } from './sandflow-error-codes.js';
import { cleanError, withoutSecrets } from './without-secrets.js';

/** A code that is not in `sandflowErrors`: a code of the service, or of a part with codes of its own. */
export interface ForeignCode {
  /** The code, unchanged. */
  readonly foreign: string;
}

/** An error with a stable code. `message` says what is wrong and how to fix it, and holds no known secret. */
export class SandflowError extends Error {
  override readonly name: string = 'SandflowError';

  /** Stable, for programs: lower case with underscores. */
  readonly code: string;

  constructor(code: SandflowErrorCode | ForeignCode, message: string, options?: { readonly cause?: unknown }) {
    // The message may quote a library, and a logged error shows its cause.
    cleanError(options?.cause);
    super(withoutSecrets(message), options);
    this.code = typeof code === 'string' ? code : code.foreign;
  }
}
