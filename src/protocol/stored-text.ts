/**
 * Texts of any length. A payload over 2 MiB makes Temporal terminate the workflow without running its code, so long texts
 * travel as references; `limits.ts` says which.
 */
import { cut, payloadBytes } from '../texts/length.js';

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

/** The length of the whole text, in bytes of UTF-8. */
export function bytesOf(text: Text): number {
  return typeof text === 'string' ? new TextEncoder().encode(text).length : text.bytes;
}
