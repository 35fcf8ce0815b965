import type { IncomingMessage } from 'node:http';
import { createByteCollector } from '../texts/byte-collector.js';

/**
 * Reads the exact bytes of a request's body.
 * @returns `'too_large'` as soon as more than `maxBytes` bytes are announced or received; the rest is not read
 * @throws when the sender goes away before the end
 */
export function readRawBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'too_large'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve('too_large');
  return new Promise((resolve, reject) => {
    const collected = createByteCollector();
    request.on('data', (chunk: Buffer) => {
      if (collected.size + chunk.length <= maxBytes) collected.add(chunk);
      else {
        request.pause();
        resolve('too_large');
      }
    });
    request.once('end', () => resolve(Buffer.from(collected.bytes().buffer)));
    request.once('error', reject);
    request.once('close', () => reject(new Error('the sender closed the connection')));
  });
}
