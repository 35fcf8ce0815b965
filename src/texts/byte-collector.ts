/**
 * Collects bytes that arrive in pieces. A list of the pieces could take a thousand times as much memory as their bytes:
 * each piece is an object, and the sender decides how small it is. A piece may also be a part of a larger buffer of a
 * socket, and would keep the whole buffer in memory.
 */

/** Blocks start small, because most bodies are short, and grow up to this size, in bytes. */
const largestBlock = 64 * 1024;
const smallestBlock = 1024;

export interface ByteCollector {
  /** In bytes. */
  readonly size: number;
  /** Copies a piece. */
  add(piece: Uint8Array): void;
  /** All bytes so far, in one array. */
  bytes(): Uint8Array;
}

export function createByteCollector(): ByteCollector {
  const blocks: Uint8Array[] = [];
  let free = new Uint8Array(0);
  let size = 0;

  return {
    get size() {
      return size;
    },
    add(piece) {
      for (let from = 0; from < piece.length; ) {
        if (free.length === 0) {
          free = new Uint8Array(Math.min(largestBlock, Math.max(smallestBlock, size)));
          blocks.push(free);
        }
        const copied = piece.subarray(from, from + free.length);
        free.set(copied);
        free = free.subarray(copied.length);
        size += copied.length;
        from += copied.length;
      }
    },
    bytes() {
      const whole = new Uint8Array(size);
      let at = 0;
      for (const block of blocks) {
        whole.set(block.subarray(0, size - at), at);
        at += block.length;
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
