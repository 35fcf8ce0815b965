/** Asks a person on a terminal before something is done that costs or cannot be undone. */
import { aborted } from '../os/aborted.js';
import type { CliIo } from './io.js';
import { UsageError } from './usage-error.js';

export type AskingIo = Pick<CliIo, 'stdin' | 'stderr' | 'interrupted'>;

/**
 * @param told `unasked`: the error where nobody can be asked; `refused`: that of another answer than yes
 * @throws UsageError unless the answer is yes
 */
export async function confirmed(
  question: string,
  told: { readonly unasked: string; readonly refused: string },
  { stdin, stderr, interrupted }: AskingIo,
): Promise<void> {
  if (!stderr.isTTY) throw new UsageError(told.unasked);
  stderr.write(`${question} [y/N] `);
  // A read of a terminal cannot be aborted.
  const answer = await Promise.race([firstLine(stdin), aborted(interrupted)]);
  interrupted.throwIfAborted();
  if (!/^y(es)?$/i.test(answer ?? '')) throw new UsageError(told.refused);
}

async function firstLine(input: CliIo['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n')) break;
  }
  return (text.split('\n')[0] ?? '').trim();
}
