/** Limits the output of agents, and divides it into pieces of whole lines. */

/** The largest size of an agent's result and of an event, in bytes. */
export const maxResultBytes = 1024 * 1024;
export const maxEventBytes = 64 * 1024;

/** Returns the beginning of `text`, counted in bytes of UTF-8. If something is left out, a mark at the end says so. */
export function boundedStart(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  const kept = new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
  return `${kept}\n[truncated: ${bytes - Buffer.byteLength(kept)} more bytes]`;
}

/** Returns the end of `text`, counted in characters. If something is left out, a mark at the beginning says so. */
export function boundedEnd(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `[truncated] ${text.slice(-maxCharacters).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** A character takes at most three bytes of UTF-8, so a piece always fits into an event. */
export const maxPieceCharacters = 16 * 1024;

/** Pieces are at most 16,384 characters long. Longer text is cut between two characters. `give` gets no blank piece. */
export function createLineBatches(give: (piece: string) => void) {
  let rest = '';
  const givePieces = (text: string): void => {
    for (let start = 0; start < text.length; ) {
      let end = start + maxPieceCharacters;
      if (/^[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length) end -= 1;
      const piece = text.slice(start, end);
      if (piece.trim() !== '') give(piece);
      start = end;
    }
  };
  return {
    push(text: string) {
      rest += text;
      const lineEnd = rest.lastIndexOf('\n');
      if (lineEnd < 0 && rest.length <= maxPieceCharacters) return;
      // If a long line is cut within a surrogate pair, the first half waits for the second.
      const end = lineEnd >= 0 ? lineEnd : rest.length - (/[\uD800-\uDBFF]$/.test(rest) ? 1 : 0);
      givePieces(rest.slice(0, end));
      rest = rest.slice(lineEnd >= 0 ? end + 1 : end);
    },
    /** Passes on the remaining text, even if its last line is incomplete. */
    end() {
      givePieces(rest);
      rest = '';
    },
  };
}
