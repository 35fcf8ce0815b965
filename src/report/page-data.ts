/**
 * The input of the report, and the JSON data in its page. Types only; `browser/*.js` are checked against these types.
 */
import type { FanoutProgress } from '../protocol/fanout/fanout-progress.js';
import type { FanoutResult, ItemResult } from '../protocol/fanout/fanout-result.js';

/**
 * What an item was doing. `preparing`: files are put and commands run; `ending`: files are collected and the fork ends.
 */
export type SegmentKind = 'queued' | 'booting' | 'preparing' | 'prompting' | 'ending';

/** A stretch of an item's life; times in ms after the batch's start. */
export interface Segment {
  readonly kind: SegmentKind;
  readonly from: number;
  readonly to: number;
}

/** The part of an item that the table and the timeline need; the rest is in its `PageDetails`. */
export interface PageItem {
  /** Place in the batch, from 0. */
  readonly index: number;
  readonly id: string;
  readonly outcome: string;
  readonly generation: number;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly segments: readonly Segment[];
  /** From the fork to the end, in ms; null if the item was never forked. */
  readonly durationMs: number | null;
  readonly machineSeconds: number;
  readonly fileCount: number;
  /** The beginning of its first prompt. */
  readonly prompt: string;
  /** Why it failed, in one line; empty if it did not. */
  readonly error: string;
  /** True if it ended before the newest run of a resumed batch began; its times are then negative. */
  readonly earlier: boolean;
}

export interface PageText {
  readonly text: string;
  /** Characters that were left out at the end. */
  readonly cut: number;
}

export interface PagePrompt {
  readonly prompt: PageText;
  readonly status: string;
  /** Null if there is no answer. */
  readonly answer: PageText | null;
  /** Reference of the whole answer in the result store, if the job cut it. */
  readonly answerRef: string | null;
  readonly error: PageText | null;
}

export interface PageFile {
  readonly path: string;
  readonly size: number | null;
  readonly error: string | null;
  /** Such as `partial`; empty for most files. */
  readonly marks: string;
  readonly preview: PageText | null;
}

export interface PageDetails {
  /** Address of the item's workflow in Temporal's UI; null if unknown. */
  readonly workflowUrl: string | null;
  readonly prompts: readonly PagePrompt[];
  readonly files: readonly PageFile[];
  readonly sandboxId: string | null;
  readonly sandboxName: string | null;
  readonly error: { readonly code: string; readonly message: PageText } | null;
  /** What may still run, one sentence each. */
  readonly left: readonly string[];
  /** How the sandbox ended, in words. */
  readonly end: string;
  readonly apiCalls: number;
  /** The attempts that a newer one has replaced, oldest first. */
  readonly earlier: readonly PageAttempt[];
}

export interface PageAttempt {
  readonly generation: number;
  readonly outcome: string;
  /** Null if it was not prompted. */
  readonly prompt: PageText | null;
  readonly error: PageText | null;
  readonly machineSeconds: number;
  readonly sandboxId: string | null;
}

/** How an outcome is shown: its word, and its mark, so that it does not depend on colour. */
export interface OutcomeStyle {
  readonly word: string;
  readonly mark: string;
  /** Name of its colours. */
  readonly tone: 'good' | 'bad' | 'warn' | 'calm';
}

/** The script element `report-data`. */
export interface PageData {
  readonly startedAtMs: number;
  readonly outcomes: Readonly<Record<string, OutcomeStyle>>;
  readonly items: readonly PageItem[];
  /** Items that failed for the same reason, by their places in `items`. */
  readonly failures: readonly (readonly number[])[];
  /** List price of a machine-second; null if unknown. */
  readonly dollarsPerSecond: number | null;
  /** Number of items whose details share a script element: `details-0`, `details-1`, … */
  readonly detailsPerBlock: number;
}

/** The address of Temporal's UI, for links to workflows. */
export interface WorkflowUi {
  /** Address of the UI, such as `http://127.0.0.1:8233`. */
  readonly url: string;
  readonly namespace: string;
  readonly deployment: string;
}

export interface ReportContext {
  /** List price of a machine-second. Default: unknown; the report then shows no amounts of money. */
  readonly dollarsPerSecond?: number | null;
  /** Default: unknown; ids are then not links. */
  readonly ui?: WorkflowUi | null;
}

/** The input of the report of a batch. */
export interface FanoutReportData extends ReportContext {
  /** The result of the batch, or its progress while it runs. */
  readonly result: FanoutResult | FanoutProgress;
  /** The newest result of each item that has one, in any order. */
  readonly items: readonly ItemResult[];
  /**
   * Beginnings of collected text files, by their reference in the result store. A file without a preview is only
   * listed.
   */
  readonly previews: ReadonlyMap<string, string>;
  /** When the report is created; ISO 8601. */
  readonly generatedAt: string;
}
