/** An item as a file of items gives it, before templates and the matrix, and the error of a wrong one. */
import type { MachineType } from '../../workflows/fanout/types.js';
import type { JobEnd, PromptStep } from '../../workflows/job/types.js';
import { SandflowError } from '../contract/sandflow-error.js';

/** A file that is put into a fork. */
export interface PutWish {
  readonly local: string;
  readonly remote: string;
}

/** One record of a file of items. */
export interface ItemLine {
  readonly place: ItemPlace;
  /** Null if the file names none. */
  readonly id: string | null;
  /** Null if the file has none: then they come from a template. */
  readonly prompts: readonly PromptStep[] | null;
  readonly provider?: string;
  readonly model?: string;
  readonly effort?: PromptStep['reasoningEffort'];
  readonly type?: MachineType;
  readonly end?: JobEnd;
  readonly deadlineMs?: number;
  readonly put: readonly PutWish[];
  readonly get: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** What a template may name, in the order of the file. */
  readonly columns: ReadonlyMap<string, string>;
}

export interface ReadLinesOptions {
  /** True if prompts come from a template, so that a record needs none of its own and may have any fields. */
  readonly template: boolean;
  /** Reads `30m`. @throws if it is no duration */
  readonly parseDurationMs: (text: string) => number;
}

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
