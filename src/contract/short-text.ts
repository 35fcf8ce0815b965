/**
 * Ids, codes, states and times of the service. They stand in lines of output, in the histories of workflows and in the summaries of
 * their timers, of which Temporal refuses those over 400 bytes: a long one, or one with line ends, must not get that far.
 */
import { z } from 'zod';

const maxLength = 128;
/** Control characters, marks of direction and other characters without a picture, and line ends. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** True for at most 128 characters, all of them visible. */
export function isShortText(text: string): boolean {
  return text.length <= maxLength && !unprintable.test(text);
}

/** A string that is a short text. */
export function shortText() {
  return z.string().refine(isShortText, 'is too long, or holds control characters');
}
