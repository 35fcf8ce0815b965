/**
 * Ids, codes, states and times of the service. They appear in lines of output, in histories of workflows and in
 * summaries of timers. Temporal refuses a summary over 400 bytes. So texts that are long or have line ends are refused
 * when they are read. A job whose error code was too long stood still.
 */
import { z } from 'zod';

const maxLength = 128;
/** Control characters, line ends, direction marks and other invisible characters. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** True for at most 128 characters, all of them visible. */
export function isShortText(text: string): boolean {
  return text.length <= maxLength && !unprintable.test(text);
}

/** A string that is a short text. */
export function shortText() {
  return z.string().refine(isShortText, 'is too long or contains control characters');
}

/** A short text, or a whole number, which is read as its digits: the specification shows no form of some ids. */
export function idText() {
  return z.preprocess((id) => (Number.isSafeInteger(id) ? String(id) : id), shortText());
}
