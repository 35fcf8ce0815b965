import { SandflowError } from '../../contract/sandflow-error.js';

/** The largest answer that is read, decompressed: a few bytes on the wire can be gigabytes. */
const maxBytes = 64 * 1024 * 1024;

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function answerText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new SandflowError('unexpected_response', `The answer is larger than ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}
