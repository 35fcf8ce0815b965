/**
 * Decodes what a person or an orchestrator wrote into a file. Pure. With a secret in UTF-16, the bridge started and
 * refused every delivery.
 */

/** The text of the bytes, or what is wrong with them. */
export type DecodedText =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string };

/** Decodes UTF-8 and skips a byte order mark. `problem` completes a sentence that begins with the name of the file. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const [first, second] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isMarked) return { problem: 'is UTF-16. Save it as UTF-8' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const nul = text.indexOf('\0');
    if (nul < 0) return { text };
    const line = text.slice(0, nul).split('\n').length;
    return { problem: `has a NUL character in line ${line}. Save it as text in UTF-8` };
  } catch {
    return { problem: 'is not text in UTF-8. Save it as UTF-8' };
  }
}
