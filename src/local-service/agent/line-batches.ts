/** Cuts a stream of text into pieces of whole lines. */

/** In UTF-8 at most three times as many bytes, so that a piece always fits into an event. */
const maxPieceCharacters = 16 * 1024;

export interface LineBatches {
  push(text: string): void;
  /** Gives what is left, also half a line. */
  end(): void;
}

/** Pieces are at most 16,384 characters long: more is cut, between characters. `give` gets no blank piece. */
export function createLineBatches(give: (piece: string) => void): LineBatches {
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
    push(text) {
      rest += text;
      const lineEnd = rest.lastIndexOf('\n');
      if (lineEnd < 0 && rest.length <= maxPieceCharacters) return;
      // Half a pair of a long line stays behind for its other half.
      const end = lineEnd >= 0 ? lineEnd : rest.length - (/[\uD800-\uDBFF]$/.test(rest) ? 1 : 0);
      givePieces(rest.slice(0, end));
      rest = rest.slice(lineEnd >= 0 ? end + 1 : end);
    },
    end() {
      givePieces(rest);
      rest = '';
    },
  };
}
