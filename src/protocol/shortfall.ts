/**
 * What a job or batch lacks that the word of its outcome does not tell. Lists, `show`, reports and exit codes use it. Pure.
 */
import type { CollectedFile, JobResult } from './job/job-result.js';

export interface Lacks {
  readonly outcome: string;
  /** Number of files that a completed job, or completed items, should have and do not. */
  readonly missingFiles: number;
  /** Number of sandboxes, prompts and commands that a person must look after. */
  readonly leftBehind: number;
  readonly error: { readonly code: string } | null;
}

/** @returns a few words, such as `1 file missing, 2 left behind`; null if there is nothing to add to the outcome */
export function shortfallOf({ outcome, missingFiles, leftBehind, error }: Lacks): string | null {
  const parts = [
    ...(missingFiles > 0 ? [`${missingFiles} ${missingFiles === 1 ? 'file' : 'files'} missing`] : []),
    ...(leftBehind > 0 ? [`${leftBehind} left behind`] : []),
  ];
  // Another outcome announces its error.
  if (parts.length === 0 && outcome === 'completed' && error !== null) parts.push(error.code);
  return parts.length === 0 ? null : parts.join(', ');
}

export function shortfallOfJob({
  outcome,
  files,
  left,
  error,
}: Pick<JobResult, 'outcome' | 'files' | 'left' | 'error'>): string | null {
  return shortfallOf({ outcome, missingFiles: missingFilesOf({ outcome, files }), leftBehind: left.length, error });
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
  readonly shortfall: string | null;
}

/** True if a person need not look at it: the exit code is then 0. */
export function isDone({ outcome, shortfall }: HowItEnded): boolean {
  return outcome === 'completed' && shortfall === null;
}

/** The outcome and what it does not tell, such as `completed, 1 file missing`. */
export function endText({ outcome, shortfall }: HowItEnded): string {
  return shortfall === null ? outcome : `${outcome}, ${shortfall}`;
}
