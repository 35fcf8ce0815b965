/**
 * Texts of any length, and how much of them may travel through Temporal, which terminates a workflow at a payload over
 * 2 MiB without running its code. No dependencies: workflow code imports this file.
 */

/** A text that is kept in the result store, once; only this travels. */
export interface StoredText {
  /** In the result store that the workers share. */
  readonly ref: string;
  /** Of the whole text, in UTF-8. */
  readonly bytes: number;
  /** Of the whole text, in hex: identifies it without reading it. */
  readonly sha256: string;
  /** How it begins, for people. */
  readonly head: string;
}

/** A text itself, or the reference of a longer one. */
export type Text = string | StoredText;

/** The longest text that travels itself, in bytes. */
export const maxInlineTextBytes = 32 * 1024;
/** What all texts of one input that travel themselves may take together, in bytes. */
export const maxInlineBytes = 150_000;
/** The longest text that is taken at all, in bytes. */
export const maxTextBytes = 32 * 1024 * 1024;
/** The longest input of a job once its long texts are in the result store, in bytes: it travels with the job's state. */
export const maxJobInputBytes = 600_000;
/** What a job's result may take before texts in it are cut, in bytes. */
export const maxJobResultBytes = 1_000_000;
/** The longest result of an activity, in bytes. */
export const maxActivityResultBytes = 1_500_000;
/** The most prompts, files, commands or paths of one job, those that are added included. */
export const maxSteps = 1_000;

/** Characters of a text that are shown in place of the whole. */
export const headLength = 80;

/** The beginning of a text in `length` characters, 80 by default, with an ellipsis if it is longer. */
export function headOf(text: Text, length = headLength): string {
  return typeof text === 'string' ? cut(text, length) : cut(text.head, length);
}

/** How a text begins in at most 130 bytes of a payload: a job may hold a thousand of them, twice. */
export function storedHead(text: string): string {
  const head = cut(text, headLength);
  return payloadBytes(head) <= 130 ? head : cut(text, 20);
}

/** `text` in at most `length` characters, the last of which is an ellipsis if the text is longer. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = length - 1;
  const last = text.charCodeAt(end - 1);
  // A pair of surrogates is one character, and half of it none.
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`;
}

/** The whole text's length in UTF-8. */
export function bytesOf(text: Text): number {
  return typeof text === 'string' ? new TextEncoder().encode(text).length : text.bytes;
}

/** What a value takes in a payload. */
export function payloadBytes(value: unknown): number {
  return bytesOf(JSON.stringify(value) ?? '');
}
