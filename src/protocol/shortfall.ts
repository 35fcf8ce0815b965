/**
 * What a job or batch lacks that the word of its outcome does not tell. Lists, `show`, reports and exit codes use it. Pure.
 */
import type { CollectedFile, JobResult, PromptResult } from './job/job-result.js';

export interface Lacks {
  readonly outcome: string;
  /** Number of files that a completed job, or completed items, should have and do not. */
  readonly missingFiles: number;
  /** Number of prompts that completed, and whose answers could not be read. */
  readonly missingAnswers: number;
  /** Number of sandboxes, prompts and commands that a person must look after. */
  readonly leftBehind: number;
  readonly error: { readonly code: string } | null;
}

/** @returns a few words, such as `1 file missing, 2 left behind`; null if there is nothing to add to the outcome */
export function shortfallOf({ outcome, missingFiles, missingAnswers, leftBehind, error }: Lacks): string | null {
  const missing = (count: number, what: string) =>
    count > 0 ? [`${count} ${what}${count === 1 ? '' : 's'} missing`] : [];
  const parts = [
    ...missing(missingFiles, 'file'),
    ...missing(missingAnswers, 'answer'),
    ...(leftBehind > 0 ? [`${leftBehind} left behind`] : []),
  ];
  // Another outcome announces its error.
  if (parts.length === 0 && outcome === 'completed' && error !== null) parts.push(error.code);
  return parts.length === 0 ? null : parts.join(', ');
}

export function shortfallOfJob({
  outcome,
  files,
  prompts,
  left,
  error,
}: Pick<JobResult, 'outcome' | 'files' | 'prompts' | 'left' | 'error'>): string | null {
  const missingFiles = missingFilesOf({ outcome, files });
  const missingAnswers = prompts.filter(lacksAnswer).length;
  return shortfallOf({ outcome, missingFiles, missingAnswers, leftBehind: left.length, error });
}

/** True if the prompt has ended, and nothing told how. */
export function lacksAnswer({ status, result, note }: Pick<PromptResult, 'status' | 'result' | 'note'>): boolean {
  return status === 'completed' && result === null && note !== undefined;
}

/** If the work did not complete, missing files are expected. */
export function missingFilesOf({
  outcome,
  files,
}: {
  readonly outcome: string;
  readonly files: readonly Pick<CollectedFile, 'error'>[];
}): number {
  return outcome === 'completed' ? files.filter(({ error }) => error !== null).length : 0;
}

export interface HowItEnded {
  readonly outcome: string;
  readonly failureClass?: string | null | undefined;
  readonly shortfall: string | null;
}

/** True if a person need not look at it: the exit code is then 0. */
export function isDone({ outcome, shortfall }: HowItEnded): boolean {
  return outcome === 'completed' && shortfall === null;
}

/** The outcome, whose failure it is and what else it does not tell: `rejected (setup)`, `completed, 1 file missing`. */
export function endText({ outcome, failureClass, shortfall }: HowItEnded): string {
  const whose = failureClass && failureClass !== outcome ? ` (${failureClass})` : '';
  return `${outcome}${whose}${shortfall === null ? '' : `, ${shortfall}`}`;
}
