import type { IncomingMessage } from 'node:http';
import { readBytes } from '../texts/byte-collector.js';

/**
 * Reads the exact bytes of a request's body.
 * @returns `'too_large'` as soon as more than `maxBytes` bytes are announced or received; the rest is not read
 * @throws when the sender goes away before the end
 */
export async function readRawBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'too_large'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too_large';
  // Its connection still has to carry the answer.
  const bytes = await readBytes(request.iterator({ destroyOnReturn: false }), maxBytes);
  return bytes === 'too_large' ? bytes : Buffer.from(bytes.buffer);
}
