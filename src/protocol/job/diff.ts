/** The changes of a git repository that a job collects as a patch. Types only. */

/**
 * - `changes`: the patch holds changes.
 * - `no_changes`: nothing has changed; the patch is empty.
 * - `not_a_repository`: the folder is missing, or is in no git repository with a working tree.
 * - `git_missing`: the sandbox has no git.
 * - `base_unknown`: the commit from which changes count is unknown, or the repository no longer has it.
 * - `too_large`: the patch is larger than a job collects.
 * - `output_cut`: the service did not return the whole patch.
 * - `failed`: git or the service refused.
 * - `not_collected`: the job ended before.
 */
export type DiffOutcome =
  | 'changes'
  | 'no_changes'
  | 'not_a_repository'
  | 'git_missing'
  | 'base_unknown'
  | 'too_large'
  | 'output_cut'
  | 'failed'
  | 'not_collected';

/** What a collected patch holds, or why there is none. */
export interface CollectedDiff {
  readonly outcome: DiffOutcome;
  /** The top folder of the repository in the sandbox; null if unknown. */
  readonly repository: string | null;
  /** The commit to which the patch applies; null if there was no commit yet, or if it is unknown. */
  readonly base: string | null;
  /** Number of changed files; null without a patch. */
  readonly changedFiles: number | null;
  /** Parts that are missing from the patch, one sentence each. */
  readonly notes: readonly string[];
}

/** The state of the repository before the first prompt, to which its changes are compared. */
export type DiffBase =
  | {
      readonly kind: 'known';
      /** Null if the repository had no commit yet. */
      readonly commit: string | null;
      /** The top folder of the repository in the sandbox. */
      readonly repository: string;
    }
  | { readonly kind: 'unknown'; readonly outcome: DiffOutcome; readonly message: string };
