/** Reads whole answers into memory, up to a limit. */

import { SandflowError } from '../../errors/sandflow-error.js';
import { readBytes } from '../../texts/byte-collector.js';

/** Limits decompressed bytes: a few bytes on the wire can expand to gigabytes. */
const maxBytes = 64 * 1024 * 1024;

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const bytes = await readBytes(body, maxBytes);
  if (bytes !== 'too_large') return Buffer.from(bytes.buffer);
  throw new SandflowError('unexpected_response', `The response is larger than ${maxBytes} bytes.`);
}

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function answerText({ body }: Response): Promise<string> {
  return body === null ? '' : (await readWhole(body as AsyncIterable<Uint8Array>)).toString('utf8');
}
