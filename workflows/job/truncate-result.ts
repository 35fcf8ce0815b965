/** Shortens the result and the progress of a job so that each fits into one payload of Temporal. Pure. */

import type { CheckRound, PromptResult } from '../../src/protocol/job/job-result.js';
import { maxJobResultBytes } from '../../src/protocol/limits.js';
import { bytesOf, headLength } from '../../src/protocol/stored-text.js';
import { cut, endOf, payloadBytes } from '../../src/texts/length.js';

/** Longest answer that a job holds itself, in bytes. */
const longestAnswerBytes = 16 * 1024;
/** Largest total of all answers that a job holds, in bytes. */
const answersBytes = 250_000;

/** Lengths in characters, tried in order until the result fits. */
const lengths = [4_000, 1_000, 300, headLength, 40, 1];

/**
 * How many bytes of the next answer the job itself keeps. If the answer is longer, the result store contains all of it.
 * @param waiting number of prompts whose answers arrive in parallel, including this one
 */
export function answerRoom(
  prompts: readonly Pick<PromptResult, 'result' | 'error'>[],
  { waiting }: { readonly waiting: number },
): number {
  const held = prompts.reduce((sum, { result, error }) => sum + bytesOf(result ?? '') + bytesOf(error ?? ''), 0);
  const left = Math.floor((answersBytes - held) / Math.max(1, waiting));
  return Math.max(headLength, Math.min(longestAnswerBytes, left));
}

/**
 * Shortens prompts, answers and errors of a result that is too large for one payload. Stored answers are not affected.
 */
export function truncateResult<
  T extends { readonly prompts: readonly PromptResult[]; readonly rounds?: readonly CheckRound[] },
>(result: T): T {
  let fits = result;
  for (const length of lengths) {
    if (payloadBytes(fits) <= maxJobResultBytes) break;
    const rounds = result.rounds?.map((round) => withShortOutputs(round, length));
    const prompts = result.prompts.map((prompt) => shortened(prompt, length));
    fits = { ...result, prompts, ...(rounds && { rounds }) };
  }
  return fits;
}

function withShortOutputs(round: CheckRound, length: number): CheckRound {
  return { ...round, runs: round.runs.map((run) => ({ ...run, output: endOf(run.output, length) })) };
}

function shortened(prompt: PromptResult, length: number): PromptResult {
  const { prompt: text, result, error, note } = prompt;
  return {
    ...prompt,
    ...(note !== undefined && { note: cut(note, length) }),
    prompt: cut(text, length),
    result: result && cut(result, length),
    error: error && cut(error, length),
  };
}
