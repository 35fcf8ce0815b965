/** Reads the files that people write for a command. */
import { readFile } from 'node:fs/promises';
import { decodeText } from '../texts/decode-text.js';
import { UsageError } from './usage-error.js';

/**
 * @param what names the file at the beginning of an error
 * @throws UsageError if it cannot be read, or is not text in UTF-8
 */
export async function readTextFile(path: string, what: string): Promise<string> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new UsageError(`${what} cannot be read. Check that it exists and is readable.`, { cause });
  });
  const { text, problem } = decodeText(bytes);
  if (text === undefined) throw new UsageError(`${what} ${problem}.`);
  return text;
}
