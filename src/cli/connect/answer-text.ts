/** Reads whole answers into memory, up to a limit. */
import { SandflowError } from '../../contract/sandflow-error.js';

/** The limit, decompressed: a few bytes on the wire can be gigabytes. */
const maxBytes = 64 * 1024 * 1024;

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new SandflowError('unexpected_response', `The answer is larger than ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function answerText({ body }: Response): Promise<string> {
  return body === null ? '' : (await readWhole(body as AsyncIterable<Uint8Array>)).toString('utf8');
}
