/**
 * Lets a repeated update act once in a workflow that continues as new: Temporal drops a repeated id only within one
 * run. After a job had continued as new, a repeated request prompted the agent again.
 */
import { currentUpdateInfo } from '@temporalio/workflow';

/** The answer to an update, by its id. */
export interface AnsweredUpdate {
  readonly id: string;
  readonly answer: unknown;
}

/** An id has at most 1,000 bytes, so these take at most a tenth of what a run may hand to the next one. */
const keptAnswers = 100;

/** True in the handler or the validator of an update that an earlier run has answered. */
export function isAnswered(answered: readonly AnsweredUpdate[]): boolean {
  return answerOf(answered) !== undefined;
}

/**
 * Handles an update, unless it was answered: then it gets the same answer again.
 * @param answered what the workflow hands on; the newest 100 answers are kept
 */
export function answerOnce<Answer>(answered: AnsweredUpdate[], handle: () => Answer): Answer {
  const known = answerOf(answered);
  if (known) return known.answer as Answer;
  const answer = handle();
  const { id } = currentUpdateInfo() ?? {};
  if (id !== undefined) answered.push({ id, answer });
  answered.splice(0, answered.length - keptAnswers);
  return answer;
}

function answerOf(answered: readonly AnsweredUpdate[]): AnsweredUpdate | undefined {
  const { id } = currentUpdateInfo() ?? {};
  return answered.find((update) => update.id === id);
}
