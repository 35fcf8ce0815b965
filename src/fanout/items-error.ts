/** What is wrong with the items of a batch, and where it stands. */
import { SandflowError } from '../contract/sandflow-error.js';

/** A place in a file of items; lines and columns count from 1. */
export interface ItemPlace {
  /** As the person named it; `stdin` for the standard input. */
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** Code `bad_items`. The message begins with file, line and column, as editors and terminals know them. */
export class ItemsError extends SandflowError {
  constructor({ file, line, column }: ItemPlace, message: string, options?: { readonly cause?: unknown }) {
    super('bad_items', `${file}:${line}${column === undefined ? '' : `:${column}`}: ${message}`, options);
  }
}
