/** Limits the length of the texts in the file, so that a browser opens the file quickly. */

/** Limit of one text in the file, in bytes. */
export const maxTextBytes = 20_000;
/**
 * Limit of all texts together in the file, in bytes. With this limit, the whole file of 5,000 items has about 30 MB.
 */
export const maxAllTextBytes = 24_000_000;

export interface CutText {
  readonly text: string;
  /** Characters that were left out at the end. */
  readonly cut: number;
}

/**
 * Number of bytes that a code unit takes in the JSON of the file. A surrogate counts as two bytes, a pair of them as
 * four.
 */
function bytesOf(unit: number): number {
  if (unit === 0x22 || unit === 0x5c || unit === 0x0a || unit === 0x09) return 2;
  if (unit < 0x20 || unit === 0x3c || unit === 0x3e || unit === 0x26 || unit === 0x2028 || unit === 0x2029) return 6;
  if (unit < 0x80) return 1;
  if (unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff)) return 2;
  return 3;
}

/** Size of `text` in the file, in bytes. Counting ends at `most`. */
export function textBytes(text: string, most = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  for (let at = 0; at < text.length && bytes < most; at += 1) bytes += bytesOf(text.charCodeAt(at));
  return Math.min(bytes, most);
}

/** Cuts `text` so that it takes at most `limit` bytes in the file. No character is cut in two. */
export function cutText(text: string, limit: number): CutText {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    bytes += bytesOf(text.charCodeAt(end));
    if (bytes > limit) break;
    end += 1;
  }
  if (end < text.length && end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
  return { text: text.slice(0, end), cut: text.length - end };
}

/**
 * Computes the limit for each text that keeps all texts together within `total`. Short texts stay whole, and the long
 * texts share the remaining bytes.
 * @param sizes bytes of each text
 */
export function fairLimit(
  sizes: readonly number[],
  each: number = maxTextBytes,
  total: number = maxAllTextBytes,
): number {
  const sorted = sizes.map((size) => Math.min(size, each)).sort((a, b) => a - b);
  let left = total;
  for (const [at, size] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at));
    if (size > share) return share;
    left -= size;
  }
  return each;
}
