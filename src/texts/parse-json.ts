/** A text from a file that a person wrote: some editors begin it with a byte order mark, which is no JSON. */
export function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
