/** An item as a file of items gives it, before templates and the matrix. Types only. */

import type { MachineType } from '../../workflows/fanout/types.js';
import type { JobEnd, PromptStep } from '../../workflows/job/types.js';
import type { ItemPlace } from './items-error.js';

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
  /** True where prompts come from a template, so that a record needs none of its own and may have any fields. */
  readonly template: boolean;
  /** Reads `30m`. @throws where it is no duration */
  readonly parseDurationMs: (text: string) => number;
}
