/** The values of settings, and the types of inputs that derive from the rows of `jobSettings`. Types only. */
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { jobSettings } from '../../job-settings/job-settings.js';
import type { Kind, Setting } from '../../job-settings/setting.js';
import type { Chat } from '../chats.js';
import type { Escalation } from '../escalation.js';
import type { Text } from '../stored-text.js';

/** Time limits and intervals of a job. `wait-intervals.ts` holds the default of every field; tests shorten them. */
export interface JobTiming {
  /** Delay from the start of a wait to its first safety poll, in ms. */
  readonly safetyPollFirstMs: number;
  /** Factor by which the delay grows after each safety poll. */
  readonly safetyPollGrowth: number;
  /** Longest delay between two safety polls, in ms. */
  readonly safetyPollMaxMs: number;
  /** Longest time for which a job that waits for the end of a prompt does not read its sandbox by itself, in ms. */
  readonly promptPollMaxMs: number;
  /** How long the worker of a command may be silent before another one looks for the command, in ms. */
  readonly commandSilenceMs: number;
  /** How long a sandbox in `error` may take to recover before the job fails, in ms. */
  readonly errorGraceMs: number;
  /** How long cleanup may take after the job's deadline or a cancel, in ms. */
  readonly cleanUpMs: number;
  /** How long a read may lag behind a write, in ms. A 404 that lasts longer is final. */
  readonly readLagMs: number;
  /** How long a lease on somebody else's sandbox lasts without a renewal, in ms. */
  readonly leaseLastsMs: number;
  /**
   * Interval between renewals of a lease or a claim, in ms. A claim is renewed at least every 4 minutes. A failed
   * renewal of a lease is retried within 15 s.
   */
  readonly renewLeaseEveryMs: number;
}

/** A file or a folder to write into the sandbox before the first prompt. */
export interface FilePut {
  /** Path in the sandbox. */
  readonly path: string;
  /**
   * Base64 content (small files), or a reference into the result store. Of a folder: the references of a gzipped tar, cut
   * into parts of at most 32 MiB. The sandbox unpacks it into `path` with its modes, for which it needs `tar` and `gzip`.
   */
  readonly content: { readonly base64: string } | { readonly ref: string } | { readonly tarGz: readonly string[] };
}

/** One prompt for the agent. Further fields are sent unchanged. */
export type PromptStep = OtherFields & {
  /** The text of the prompt. */
  readonly prompt: Text;
} & OptionalFields<SettingsOf<'prompt'>>;

/** The escalation of a stop that a job leaves behind. */
export interface JobEscalation extends Escalation {
  /** Whom its steps notify. Default: the target of the job or the batch. */
  readonly notify?: NotifyTarget;
}

/** Who is notified when a job ends or is blocked. */
export interface NotifyTarget {
  /** Receives a POST with JSON, signed by Standard Webhooks. */
  readonly url: string;
  /** The chat whose incoming webhook `url` is. It gets a text for people instead, without a signature. */
  readonly chat?: Chat;
}

/** The type of each kind of value. */
interface Values extends Record<Exclude<Kind, 'choice'>, unknown> {
  readonly name: string;
  readonly text: Text;
  readonly template: string;
  readonly duration: number;
  readonly ttl: number;
  readonly budget: number;
  readonly count: number;
  readonly flag: boolean;
  readonly sandbox: string;
  readonly prompts: readonly PromptStep[];
  readonly commands: readonly Text[];
  readonly files: readonly FilePut[];
  readonly paths: readonly string[];
  readonly folder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: OtherFields;
  readonly notify: NotifyTarget;
  readonly escalation: JobEscalation;
  readonly timing: Partial<JobTiming>;
  readonly stopAt:
    | { readonly kind: 'go_on' }
    | { readonly kind: 'fail_fast' }
    | { readonly kind: 'successes'; readonly count: number };
}

type ValueOf<Row> =
  | (Row extends { readonly values: readonly (infer Value)[] }
      ? Value
      : Row extends { readonly kind: infer K extends keyof Values }
        ? Values[K]
        : never)
  | (Row extends { readonly orNull: true } ? null : never);

type FieldOf<Key, Row> = Row extends { readonly field: infer Field extends string } ? Field : Key;

type Rows = typeof jobSettings;

/** The rows of one place. */
export type SettingsOf<Place extends Setting['of']> = {
  [Key in keyof Rows as Rows[Key]['of'] extends Place ? Key : never]: Rows[Key];
};
/** The rows that the policy of a batch has for its items, as rows of the policy. */
export type SettingsForItems = {
  [Key in keyof Rows as Rows[Key] extends { readonly batch: object } ? Key : never]: InPolicy<Rows[Key]>;
};
type InPolicy<Row> = Row extends { readonly batch: infer Batch }
  ? Omit<Row, 'default' | 'orNull' | 'required' | 'batch'> & Batch
  : never;
/** The rows that an item may set, beside those of its prompts. */
export type SettingsOfItems = {
  [Key in keyof Rows as Rows[Key] extends { readonly item: true }
    ? Rows[Key]['of'] extends 'prompt'
      ? never
      : Key
    : never]: Rows[Key];
};

type HasDefault = { readonly default: unknown } | { readonly required: true };

/** The fields that are always there, because their rows have a default. */
export type RequiredFields<From> = {
  readonly [Key in keyof From as From[Key] extends HasDefault ? FieldOf<Key, From[Key]> : never]: ValueOf<From[Key]>;
};
/** The other fields. */
export type OptionalFields<From> = {
  readonly [Key in keyof From as From[Key] extends HasDefault ? never : FieldOf<Key, From[Key]>]?: ValueOf<From[Key]>;
};
/** Every field, none of which must be there. */
export type AnyFields<From> = {
  readonly [Key in keyof From as FieldOf<Key, From[Key]>]?: Exclude<ValueOf<From[Key]>, null>;
};
