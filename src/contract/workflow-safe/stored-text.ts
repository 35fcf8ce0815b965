/**
 * Texts of any length, and the limits for sending them through Temporal. A payload over 2 MiB makes Temporal terminate
 * the workflow without running its code. No dependencies: workflow code imports this file.
 */

/** A reference to a text in the result store. Only the reference is sent through Temporal. */
export interface StoredText {
  /** The key of the text in the result store that the workers share. */
  readonly ref: string;
  /** The length of the whole text in bytes of UTF-8. */
  readonly bytes: number;
  /** The hash of the whole text, in hex. It compares two texts without reading them. */
  readonly sha256: string;
  /** The beginning of the text, for people. */
  readonly head: string;
}

/** A text itself, or the reference to a longer text. */
export type Text = string | StoredText;

/** The longest text that is sent inline, in bytes. Longer texts are sent as references. */
export const maxInlineTextBytes = 32 * 1024;
/** The most bytes that all inline texts of one input may have together. */
export const maxInlineBytes = 150_000;
/** The longest text that is accepted at all, in bytes. */
export const maxTextBytes = 32 * 1024 * 1024;
/** The longest input of a job, without its stored texts, in bytes. The input is sent together with the job's state. */
export const maxJobInputBytes = 600_000;
/** If the result of a job is longer than this, in bytes, its texts are cut. */
export const maxJobResultBytes = 1_000_000;
/** The longest result of an activity, in bytes. */
export const maxActivityResultBytes = 1_500_000;
/** The most prompts, files, commands or paths of one job, including those that are added while it runs. */
export const maxSteps = 1_000;

/** The number of characters that are shown instead of a whole text. */
export const headLength = 80;

/** The first `length` characters of a text, 80 by default. If the text is longer, the last of them is an ellipsis. */
export function headOf(text: Text, length = headLength): string {
  return typeof text === 'string' ? cut(text, length) : cut(text.head, length);
}

/**
 * The beginning of a text, in at most 130 bytes of a payload, because a job may hold two copies of each of a thousand.
 */
export function storedHead(text: string): string {
  const head = cut(text, headLength);
  return payloadBytes(head) <= 130 ? head : cut(text, 20);
}

/** `text` in at most `length` characters, the last of which is an ellipsis if the text is longer. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = length - 1;
  const last = text.charCodeAt(end - 1);
  // A surrogate pair is one character and must not be split.
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`;
}

/** The length of the whole text, in bytes of UTF-8. */
export function bytesOf(text: Text): number {
  return typeof text === 'string' ? new TextEncoder().encode(text).length : text.bytes;
}

/** The number of bytes that a value takes in a payload. */
export function payloadBytes(value: unknown): number {
  return bytesOf(JSON.stringify(value) ?? '');
}
