/**
 * Puts long texts and files of an input into the result store before anything is started, so that the input contains
 * only references to them. If there is a store, setup scripts always go there, because they may contain secrets.
 */
import { createHash } from 'node:crypto';
import type { FanoutInput, FanoutItem, FanoutSource } from '../protocol/fanout/fanout-input.js';
import type { FilePut, JobInput, PromptStep } from '../protocol/job/job-input.js';
import { maxInlineBytes, maxInlineTextBytes } from '../protocol/limits.js';
import { type StoredText, storedHead, type Text } from '../protocol/stored-text.js';
import type { ResultStore, StoredObject } from '../result-store/index.js';

/** A text or file that an input contains, rather than a reference to it. */
interface Slot {
  /** Its path in the input, such as `prompts.0.prompt`. */
  readonly field: string;
  /** Its size in the input. */
  readonly bytes: number;
  /** True if the input must not contain any part of it, not even the first 80 characters. */
  readonly isPrivate?: boolean;
  content(): Buffer;
  replace(stored: StoredText): void;
}

type Draft<T> = T extends Text
  ? T
  : T extends readonly (infer Item)[]
    ? Draft<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]: Draft<T[Key]> }
      : T;

export interface KeepOptions {
  /** The result store, shared with the workers. Without a store, an input that is too large is refused. */
  readonly results?: ResultStore | undefined;
  /** Maximum size of all texts and files that the input contains, in bytes; 150 kB by default. */
  readonly roomBytes?: number;
  /** Creates the error for an input that is too large; `message` names the field, its size and the limit. */
  readonly refuse: (message: string) => Error;
}

/**
 * Moves long texts and files of a job's input into the result store. Safe to repeat: a text always has the same
 * reference.
 * @throws what `refuse` returns
 */
export function keepJobTexts(input: JobInput, options: KeepOptions): Promise<JobInput> {
  return kept(input, options, (draft) => [
    ...(draft.source.kind === 'create' ? setupSlots(draft.source.body) : []),
    ...stepSlots(draft),
  ]);
}

/** As `keepJobTexts`, for the preparation of a batch's source. */
export function keepFanoutTexts(input: FanoutInput, options: KeepOptions): Promise<FanoutInput> {
  return kept(input, options, ({ source, policy }) => [
    ...(source ? sourceSlots(source) : []),
    ...lastCommands.flatMap((name) => commandSlots(policy[name], `policy.${name}`)),
  ]);
}

/** As `keepJobTexts`, for the source of some items. */
export function keepSourceTexts(source: FanoutSource, options: KeepOptions): Promise<FanoutSource> {
  return kept(source, options, sourceSlots);
}

function sourceSlots(source: Draft<FanoutSource>): Slot[] {
  if (source.kind === 'sandbox') return [];
  return [...setupSlots(source.body), ...(source.kind === 'prepare' ? stepSlots(source, 'source.') : [])];
}

/** As `keepJobTexts`, for an item of a batch. */
export function keepItemTexts(item: FanoutItem, options: KeepOptions): Promise<FanoutItem> {
  return kept(item, options, (draft) => {
    const { columns = {} } = draft;
    return [
      ...stepSlots(draft),
      ...Object.keys(columns).flatMap((name) => textSlots(columns, name, `columns.${name}`)),
    ];
  });
}

/** As `keepJobTexts`, for a follow-up prompt. */
export function keepPromptText(step: PromptStep, options: KeepOptions): Promise<PromptStep> {
  return kept(step, options, (draft) => textSlots(draft, 'prompt', 'prompt'));
}

async function kept<T>(input: T, options: KeepOptions, slotsOf: (draft: Draft<T>) => Slot[]): Promise<T> {
  const draft = structuredClone(input) as Draft<T>;
  const long = longOnes(slotsOf(draft), options);
  if (long.length === 0) return input;
  for (const slot of long) slot.replace(await keep(slot, options));
  return draft as T;
}

/**
 * Selects the texts and files that do not stay in the input. If there is a store, these are all that are private or too
 * long. In any case, the longest texts are then added, until the remaining texts are small enough for the input.
 */
function longOnes(slots: readonly Slot[], { results, roomBytes = maxInlineBytes }: KeepOptions): Slot[] {
  let total = slots.reduce((sum, { bytes }) => sum + bytes, 0);
  return slots
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(({ bytes, isPrivate = false }) => {
      const isHidden = isPrivate && results !== undefined;
      const isLong = (results !== undefined && bytes > maxInlineTextBytes) || total > roomBytes;
      // A reference to a short text would not be shorter.
      if (!isHidden && (!isLong || bytes < referenceBytes)) return false;
      total -= bytes;
      return true;
    });
}

async function keep(slot: Slot, { results, roomBytes = maxInlineBytes, refuse }: KeepOptions): Promise<StoredText> {
  if (!results) {
    const most = `but all texts and files together may take at most ${roomBytes} unless commands and workers share a result store`;
    throw refuse(`${slot.field} takes ${slot.bytes} bytes, ${most}. ${mend}`);
  }
  const content = slot.content();
  const sha256 = createHash('sha256').update(content).digest('hex');
  const { ref, size } = await putByDigest(results, `inputs/${sha256}`, content);
  const head = slot.isPrivate ? '' : storedHead(content.subarray(0, 1_000).toString('utf8'));
  return { ref, bytes: size, sha256, head };
}

/**
 * Puts content under its digest. Whoever stores the same at once may be replaced, although its bytes differ if they are
 * encrypted.
 * @throws the error of the store, or what its check says of it
 */
export async function putByDigest(results: ResultStore, key: string, content: Uint8Array): Promise<StoredObject> {
  try {
    return await results.put(key, content, { signal: new AbortController().signal });
  } catch (error) {
    await results.checkWritable?.();
    throw error;
  }
}

const mend = 'Shorten it, or configure the shared store: `results` in the library, SANDFLOW_RESULTS for commands';
const referenceBytes = 500;

function setupSlots(body: { setupScript?: Text }): Slot[] {
  return textSlots(body, 'setupScript', 'source.body.setupScript').map((slot) => ({ ...slot, isPrivate: true }));
}

interface Steps {
  put?: Draft<readonly FilePut[]>;
  commands?: Text[];
  checks?: Text[];
  after?: Text[];
  always?: Text[];
  prompts: Draft<readonly PromptStep[]>;
}

const lastCommands = ['checks', 'after', 'always'] as const;

function stepSlots({ put = [], commands, prompts, ...others }: Steps, prefix = ''): Slot[] {
  return [
    ...put.flatMap((file, index) => fileSlots(file, `${prefix}put.${index}.content`)),
    ...commandSlots(commands, `${prefix}commands`),
    ...lastCommands.flatMap((name) => commandSlots(others[name], `${prefix}${name}`)),
    ...prompts.flatMap((step, index) => textSlots(step, 'prompt', `${prefix}prompts.${index}.prompt`)),
  ];
}

function commandSlots(commands: Text[] = [], field: string): Slot[] {
  return commands.flatMap((_, index) => textSlots(commands, index, `${field}.${index}`));
}

/**
 * Returns the slot of the text under `key` of `holder`; no slot if there is no text, or if it is a reference already.
 */
function textSlots<Key extends PropertyKey>(holder: { [K in Key]?: Text }, key: Key, field: string): Slot[] {
  const text = holder[key];
  if (typeof text !== 'string') return [];
  const replace = (stored: StoredText) => {
    holder[key] = stored;
  };
  return [{ field, bytes: Buffer.byteLength(text), content: () => Buffer.from(text), replace }];
}

function fileSlots(file: Draft<FilePut>, field: string): Slot[] {
  const { content } = file;
  if (!('base64' in content)) return [];
  const replace = ({ ref }: StoredText) => {
    file.content = { ref };
  };
  return [{ field, bytes: content.base64.length, content: () => Buffer.from(content.base64, 'base64'), replace }];
}
