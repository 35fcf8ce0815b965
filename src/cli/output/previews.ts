/** Keeps the beginnings of collected text files, which reports show. */

const longestPreviewBytes = 8_000;
/** Limit of all previews together: the report is one file, and a browser must open it quickly. */
const mostBytes = 4_000_000;

export function createPreviews() {
  const all = new Map<string, string>();
  let room = mostBytes;
  return {
    all: all as ReadonlyMap<string, string>,
    /** Keeps the beginning of a file, if the file is text and there is room. */
    add(ref: string, content: Buffer): void {
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
    // `stream` drops a character that the cut has split.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
