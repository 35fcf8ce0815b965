/** Cuts and measures texts. */

/** `text` in at most `length` characters, the last of which is an ellipsis if the text is longer. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = length - 1;
  const last = text.charCodeAt(end - 1);
  // A surrogate pair is one character and must not be split.
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`;
}

/** The end of `text` in at most `bytes` of UTF-8 and an ellipsis, which comes first if the text is longer. */
export function endOf(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  if (encoded.length <= bytes) return text;
  let from = encoded.length - bytes;
  // A character must not be split.
  while (((encoded[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return `…${new TextDecoder().decode(encoded.subarray(from))}`;
}

/** The number of bytes that a value takes in a payload. */
export function payloadBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value) ?? '').length;
}
