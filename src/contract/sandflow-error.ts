/**
 * The root of every error that sandflow throws on purpose. No dependencies: workflow code may import this file.
 */

/** An error with a stable code. `message` says what is wrong and how to mend it, and holds no secret. */
export class SandflowError extends Error {
  override readonly name: string = 'SandflowError';

  constructor(
    /** Stable, for programs: lower case with underscores. */
    readonly code: string,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}
