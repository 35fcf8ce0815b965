/** What other people have done in a world. */
import type { Told } from './told.js';

/** What others have done: what must remain of it, and what a job can no longer be held to. */
export interface Traces {
  /** Sandboxes that others stopped, resumed or deleted. */
  readonly taken: Set<string>;
  /** When each was last resumed, in ms since the epoch. */
  readonly resumed: Map<string, number>;
  /** When each was last resumed while it was stopped or being stopped, in ms since the epoch. */
  readonly keeps: Map<string, number>;
  /** Sandboxes that others have tried to stop, once for each attempt. */
  readonly stopped: string[];
  readonly leases: { readonly sandboxId: string; readonly fromMs: number; readonly untilMs: number }[];
  readonly deleted: Set<string>;
  /** The names that sandboxes had before somebody renamed them. */
  readonly renamed: Map<string, string | undefined>;
  /** Sandboxes on which somebody acted, whether or not it had an effect. */
  readonly acted: Set<string>;
  readonly promptIds: Set<string>;
  /** Jobs that somebody cancelled or terminated, and follow-up prompts by their text. */
  readonly followUps: Set<string>;
  /** Ids of workflows that somebody terminated. */
  readonly terminated: Set<string>;
  /** Who arrived while a job worked. */
  readonly newcomers: Promise<Told | undefined>[];
  /** Forks that somebody made by hand of a sandbox of this job. */
  readonly forks: { readonly job: string; readonly sandboxId: string }[];
  /** Sandboxes that somebody kept on purpose by continuing this job. */
  readonly kept: { readonly job: string; readonly sandboxId: string }[];
  /** Sandboxes that a newcomer deleted while this job used them. */
  readonly cleaned: { readonly job: string; readonly sandboxId: string }[];
}

export const createTraces = (): Traces => ({
  taken: new Set(),
  resumed: new Map(),
  keeps: new Map(),
  stopped: [],
  leases: [],
  deleted: new Set(),
  renamed: new Map(),
  acted: new Set(),
  promptIds: new Set(),
  followUps: new Set(),
  terminated: new Set(),
  newcomers: [],
  forks: [],
  kept: [],
  cleaned: [],
});
