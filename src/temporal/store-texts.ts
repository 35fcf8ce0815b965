/** Puts long texts and files of an input into the result store before anything is started, so that only references travel. */
import { createHash } from 'node:crypto';
import type { FanoutInput, FanoutItem } from '../../workflows/fanout/types.js';
import type { FilePut, JobInput, PromptStep, SandboxSource } from '../../workflows/job/types.js';
import { maxInlineBytes, maxInlineTextBytes, type StoredText, storedHead, type Text } from '../contract/texts.js';
import type { ResultStore } from '../result-store/index.js';

/** One text or file of an input that travels itself. */
interface Slot {
  /** Where it is in the input, such as `prompts.0.prompt`. */
  readonly field: string;
  /** What it takes where it travels. */
  readonly bytes: number;
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
  /** Shared with the workers; without it nothing is put anywhere, and what is too long is refused. */
  readonly results?: ResultStore | undefined;
  /** What all that travels itself may take together, in bytes; 150 kB by default. */
  readonly roomBytes?: number;
  /** Makes the error for what is too long: it names the field, its size and the limit. */
  readonly refuse: (message: string) => Error;
}

/** Safe to repeat: a text has the same reference each time. @throws what `refuse` makes */
export function keepJobTexts(input: JobInput, options: KeepOptions): Promise<JobInput> {
  return kept(input, options, (draft) => [
    ...(draft.source.kind === 'create' ? bodySlots(draft.source.body, 'source.body') : []),
    ...stepSlots(draft),
  ]);
}

/** As `keepJobTexts`, for what prepares the source of a batch. */
export function keepFanoutTexts(input: FanoutInput, options: KeepOptions): Promise<FanoutInput> {
  return kept(input, options, ({ source }) => {
    if (source.kind === 'sandbox') return [];
    return [
      ...bodySlots(source.body, 'source.body'),
      ...(source.kind === 'prepare' ? stepSlots(source, 'source.') : []),
    ];
  });
}

/** As `keepJobTexts`, for an item of a batch. */
export function keepItemTexts(item: FanoutItem, options: KeepOptions): Promise<FanoutItem> {
  return kept(item, options, (draft) => stepSlots(draft));
}

/** As `keepJobTexts`, for a prompt that is added. */
export function keepPromptText(step: PromptStep, options: KeepOptions): Promise<PromptStep> {
  return kept(step, options, (draft) =>
    textSlots(
      [draft.prompt],
      () => 'prompt',
      (_, stored) => (draft.prompt = stored),
    ),
  );
}

async function kept<T>(input: T, options: KeepOptions, slotsOf: (draft: Draft<T>) => Slot[]): Promise<T> {
  const draft = structuredClone(input) as Draft<T>;
  const long = longOnes(slotsOf(draft), options);
  if (long.length === 0) return input;
  for (const slot of long) slot.replace(await keep(slot, options));
  return draft as T;
}

/** Those that are too long themselves, where there is a place for them, and the longest until the rest has room. */
function longOnes(slots: readonly Slot[], { results, roomBytes = maxInlineBytes }: KeepOptions): Slot[] {
  let total = slots.reduce((sum, { bytes }) => sum + bytes, 0);
  return slots
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter(({ bytes }) => {
      const isLong = (results !== undefined && bytes > maxInlineTextBytes) || total > roomBytes;
      // A reference takes as much.
      if (!isLong || bytes < referenceBytes) return false;
      total -= bytes;
      return true;
    });
}

async function keep(slot: Slot, { results, roomBytes = maxInlineBytes, refuse }: KeepOptions): Promise<StoredText> {
  if (!results) {
    const most = `all texts and files together may take ${roomBytes} without a result store that the workers share`;
    throw refuse(`${slot.field} takes ${slot.bytes} bytes, ${most}. ${mend}`);
  }
  const content = slot.content();
  const sha256 = createHash('sha256').update(content).digest('hex');
  const { ref, size } = await results.put(`inputs/${sha256}`, content);
  return { ref, bytes: size, sha256, head: storedHead(content.subarray(0, 1_000).toString('utf8')) };
}

const mend =
  'Make it shorter, or say where the shared store is: `results` in the library, SANDFLOW_RESULTS for commands';
const referenceBytes = 500;

interface Steps {
  put?: Draft<readonly FilePut[]>;
  commands?: Text[];
  prompts: Draft<readonly PromptStep[]>;
}

function stepSlots({ put = [], commands = [], prompts }: Steps, prefix = ''): Slot[] {
  return [
    ...fileSlots(put, `${prefix}put`),
    ...textSlots(
      commands,
      (index) => `${prefix}commands.${index}`,
      (index, stored) => {
        commands[index] = stored;
      },
    ),
    ...textSlots(
      prompts.map(({ prompt }) => prompt),
      (index) => `${prefix}prompts.${index}.prompt`,
      (index, stored) => {
        const step = prompts[index];
        if (step) step.prompt = stored;
      },
    ),
  ];
}

function bodySlots(body: Draft<Extract<SandboxSource, { kind: 'create' }>['body']>, path: string): Slot[] {
  const { setupScript } = body;
  return setupScript === undefined
    ? []
    : textSlots(
        [setupScript],
        () => `${path}.setupScript`,
        (_, stored) => {
          body.setupScript = stored;
        },
      );
}

function textSlots(
  texts: readonly Text[],
  fieldOf: (index: number) => string,
  replace: (index: number, stored: StoredText) => void,
): Slot[] {
  return texts.flatMap((text, index) =>
    typeof text === 'string'
      ? {
          field: fieldOf(index),
          bytes: Buffer.byteLength(text),
          content: () => Buffer.from(text),
          replace: (stored: StoredText) => replace(index, stored),
        }
      : [],
  );
}

function fileSlots(files: Draft<readonly FilePut[]>, path: string): Slot[] {
  return files.flatMap((file, index) => {
    const { content } = file;
    if (!('base64' in content)) return [];
    return {
      field: `${path}.${index}.content`,
      bytes: content.base64.length,
      content: () => Buffer.from(content.base64, 'base64'),
      replace: ({ ref }: StoredText) => {
        file.content = { ref };
      },
    };
  });
}
