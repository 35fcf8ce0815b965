/** Reads whole answers into memory, up to a limit. */

import { SandflowError } from '../../errors/sandflow-error.js';
import { readBytes } from '../../texts/byte-collector.js';

/** Limits decompressed bytes: a few bytes on the wire can expand to gigabytes. */
const maxBytes = 64 * 1024 * 1024;

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const bytes = await readBytes(body, maxBytes);
  if (bytes !== 'too_large') return Buffer.from(bytes.buffer);
  throw tooLarge();
}

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
export async function answerText({ body }: Response): Promise<string> {
  return body === null ? '' : (await readWhole(body as AsyncIterable<Uint8Array>)).toString('utf8');
}

/**
 * The lines of an answer, each as soon as it is whole.
 * @throws SandflowError `unexpected_response` for a line of more than 64 MiB; what the connection throws
 */
export async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    const [end = '', ...next] = decoder.decode(piece, { stream: true }).split('\n');
    line += end;
    for (const begun of next) {
      yield line;
      line = begun;
    }
    if (line.length > maxBytes) throw tooLarge();
  }
  if (line !== '') yield line;
}

function tooLarge(): SandflowError {
  return new SandflowError('unexpected_response', `The response is larger than ${maxBytes} bytes.`);
}
