/** Collects bytes that arrive in pieces. */

export function createByteCollector() {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    /** In bytes. */
    get size() {
      return size;
    },
    add(piece: Uint8Array): void {
      pieces.push(piece);
      size += piece.length;
    },
    /** All bytes so far, in one array. */
    bytes(): Uint8Array {
      const whole = new Uint8Array(size);
      let at = 0;
      for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
      return whole;
    },
  };
}

/**
 * Reads all bytes of a stream.
 * @returns the bytes; `'too_large'` as soon as more than `maxBytes` have arrived, in which case the rest is not read
 * @throws what the stream throws
 */
export async function readBytes(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | 'too_large'> {
  const collected = createByteCollector();
  for await (const piece of pieces) {
    if (collected.size + piece.length > maxBytes) return 'too_large';
    collected.add(piece);
  }
  return collected.bytes();
}
