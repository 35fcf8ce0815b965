/** Text that does not grow without limit. */

/** The most that an agent's result or an event keeps. */
export const maxResultBytes = 1024 * 1024;
export const maxEventBytes = 64 * 1024;

/** The beginning of `text`, with a mark at its end where something was left out. Counted in bytes of UTF-8. */
export function boundedStart(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const kept = new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
  return `${kept}\n[truncated: ${bytes - Buffer.byteLength(kept)} more bytes]`;
}

/** The end of `text`, with a mark at its beginning where something was left out. Counted in characters. */
export function boundedEnd(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `[truncated] ${text.slice(-maxCharacters).replace(/^[\uDC00-\uDFFF]/, '')}`;
}
