/** An error in the command line's arguments. */
import { SandflowError } from '../contract/sandflow-error.js';

/** Ends the command with exit code 2, before anything is started. */
export class UsageError extends SandflowError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('bad_usage', message, options);
  }
}
