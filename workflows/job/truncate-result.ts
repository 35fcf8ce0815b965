/** Keeps what a job says of itself within one payload of Temporal, whatever its prompts and answers. Pure. */
import { bytesOf, cut, headLength, maxJobResultBytes, payloadBytes } from '../../src/contract/texts.js';
import type { PromptResult } from './types.js';

/** The longest answer that a job holds itself, in bytes … */
const longestAnswerBytes = 16 * 1024;
/** … and what all of its answers may take together. */
const answersBytes = 250_000;

/** Tried one after the other, in characters, until all fits. */
const lengths = [4_000, 1_000, 300, headLength, 40, 1];

/**
 * How much of the next answer the job holds itself, in bytes: the whole of it is in the result store where it is longer.
 * @param waiting prompts whose answers come side by side, this one included
 */
export function answerRoom(
  prompts: readonly Pick<PromptResult, 'result' | 'error'>[],
  { waiting }: { readonly waiting: number },
): number {
  const held = prompts.reduce((sum, { result, error }) => sum + bytesOf(result ?? '') + bytesOf(error ?? ''), 0);
  const left = Math.floor((answersBytes - held) / Math.max(1, waiting));
  return Math.max(headLength, Math.min(longestAnswerBytes, left));
}

/** Leaves a result of ordinary size as it is. In a longer one it cuts prompts, answers and errors; whole answers are kept. */
export function truncateResult<T extends { readonly prompts: readonly PromptResult[] }>(result: T): T {
  let fits = result;
  for (const length of lengths) {
    if (payloadBytes(fits) <= maxJobResultBytes) break;
    fits = { ...result, prompts: result.prompts.map((prompt) => shortened(prompt, length)) };
  }
  return fits;
}

function shortened(prompt: PromptResult, length: number): PromptResult {
  const { prompt: asked, result, error } = prompt;
  return {
    ...prompt,
    prompt: cut(asked, length),
    result: result && cut(result, length),
    error: error && cut(error, length),
  };
}
