/** The first bytes of collected text files, for the report. */

const longestPreviewBytes = 8_000;
/** A browser must open the report, one file, quickly. */
const mostBytes = 4_000_000;

export interface Previews {
  readonly all: ReadonlyMap<string, string>;
  /** Keeps the beginning of a file, if it is text and fits. */
  add(ref: string, content: Buffer): void;
}

export function createPreviews(): Previews {
  const all = new Map<string, string>();
  let room = mostBytes;
  return {
    all,
    add(ref, content) {
      const begin = content.subarray(0, longestPreviewBytes);
      if (begin.length === 0 || begin.length > room || all.has(ref)) return;
      const text = textOf(begin, content.length > begin.length);
      if (text === undefined) return;
      all.set(ref, text);
      room -= begin.length;
    },
  };
}

function textOf(bytes: Buffer, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    // `stream` drops a character that the cut halved.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
