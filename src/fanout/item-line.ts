/** An item as it is read from a file, before templates and the matrix apply, and the error for a wrong item. */

import { SandflowError } from '../errors/sandflow-error.js';
import type { ItemSettings } from '../protocol/fanout/fanout-input.js';
import type { PromptStep } from '../protocol/job/job-input.js';

/** A file that is put into a fork. */
export interface PutWish {
  readonly local: string;
  readonly remote: string;
}

/** What an item says of its source. `source` is a sandbox, and excludes the others. */
export interface SourceWish {
  readonly source?: string;
  readonly snapshot?: string;
  readonly environment?: string;
  /** Commands that prepare it. */
  readonly setup?: readonly string[];
}

/** One record of a file of items. */
export interface ItemLine {
  readonly place: ItemPlace;
  /** Null if the record has no id. */
  readonly id: string | null;
  /** Null if the prompts come from a template. */
  readonly prompts: readonly PromptStep[] | null;
  /** Who answers its prompts: fields of a prompt. */
  readonly choice: Omit<PromptStep, 'prompt'>;
  /** Its other settings, without files. */
  readonly settings: Omit<ItemSettings, 'put' | 'collect'>;
  /** Absent: the source of the batch. */
  readonly source?: SourceWish;
  readonly put: readonly PutWish[];
  readonly get: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** The fields that are used as settings, and those that are data although settings have their names. */
  readonly namedAs?: NamedAs;
  /** The columns that a template may name, in the order of the file. */
  readonly columns: ReadonlyMap<string, string>;
}

/** What an item has that says nothing of itself. */
export const plainItem = { choice: {}, settings: {}, put: [], get: [] } as const;

/** How names of settings were understood. `commands`: the settings that run in sandboxes, and may have been meant as data. */
export type NamedAs = Readonly<Record<'settings' | 'data' | 'commands', readonly string[]>>;

export interface ReadLinesOptions {
  /** True if the prompts come from a template. A record then needs no prompt and may have any fields. */
  readonly template: boolean;
  /** For each field, the first of its values that was read, and why that cannot set it. The reader fills it. */
  readonly firstValues: Map<string, { readonly place: ItemPlace; readonly why: string | undefined }>;
  /** Parses a duration such as `30m`. @throws if the text is not a duration */
  readonly parseDurationMs: (text: string) => number;
}

/** A place in a file of items; lines and columns count from 1. */
export interface ItemPlace {
  /** The name that the user gave; `stdin` for the standard input. */
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/**
 * Has the code `bad_items`. The message begins with `file:line` or `file:line:column`, which editors and terminals
 * recognize.
 */
export class ItemsError extends SandflowError {
  constructor({ file, line, column }: ItemPlace, message: string, options?: { readonly cause?: unknown }) {
    super('bad_items', `${file}:${line}${column === undefined ? '' : `:${column}`}: ${message}`, options);
  }
}
