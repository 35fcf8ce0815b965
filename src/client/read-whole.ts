/** Reads a short response from a stream: the error body of a refused download. */
import type { Readable } from 'node:stream';

/** No error body is longer; what follows is not read. */
const maxBytes = 1024 * 1024;

export async function readWhole(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks, size);
}
