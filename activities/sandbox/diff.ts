/** Collects what a git repository in a sandbox has changed, as a patch in the result store. */
import type { SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { CollectedDiff, DiffBase } from '../../src/protocol/job/diff.js';
import type { CollectedFile } from '../../src/protocol/job/job-result.js';
import { patchName } from '../../src/protocol/job/patch-name.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { cut } from '../../src/texts/length.js';
import { type Attempt, repeatable } from '../retry/attempt.js';
import { staysUnreadable } from '../retry/classify.js';
import {
  changedFilesOf,
  type DiffAnswer,
  hasId,
  messageOf,
  type PatchHead,
  readBase,
  readContent,
  readDiffAnswer,
  readPatchHead,
} from './diff-answer.js';
import {
  type BaseScript,
  baseText,
  maxPatchBytes,
  type PatchScript,
  patchPieceBytes,
  patchPieceText,
  patchRemovalText,
  patchText,
} from './diff-script.js';
import { isRefusal } from './files.js';

export type DiffBaseInput = BaseScript & { readonly sandboxId: string };

export interface CollectDiffInput extends PatchScript {
  readonly sandboxId: string;
  /** Key of the patch in the result store: one per job. */
  readonly key: string;
}

const answerMarginMs = 15_000;
/** For the base and for a piece, in seconds. */
const shortSeconds = 60;
/** For the patch of a large repository, in seconds. */
const longSeconds = 600;

type Problem = Pick<CollectedDiff, 'outcome'> & { readonly message: string };

/** A problem of the sandbox or its repository, which another attempt cannot solve. */
class DiffProblem extends Error {
  constructor(
    readonly outcome: Exclude<CollectedDiff['outcome'], 'changes' | 'no_changes'>,
    message: string,
  ) {
    super(message);
  }
}

export function createDiffActivities(client: SandboxClient, results: ResultStore) {
  /** @throws DiffProblem if the service refuses the command, or if the answer is incomplete */
  async function ask(
    { call, attempt }: Pick<Attempt, 'attempt' | 'call'>,
    sandboxId: string,
    command: string,
    timeoutSeconds: number,
  ): Promise<DiffAnswer> {
    const timeoutMs = timeoutSeconds * 1_000 + answerMarginMs;
    let answer: ResponseOf<'runCommand'>;
    try {
      answer = await call((signal) => client.runCommand(sandboxId, { command, timeoutSeconds }, { signal, timeoutMs }));
    } catch (error) {
      if (!isRefusal(error) && !staysUnreadable(error, { attempt })) throw error;
      throw new DiffProblem('failed', cut((error as Error).message, 500));
    }
    if (answer.timedOut) throw new DiffProblem('failed', `git did not end within ${timeoutSeconds} seconds`);
    const read = readDiffAnswer(answer.stdout);
    if (read) return checked(read);
    const said = cut(answer.stderr.trim(), 300);
    throw new DiffProblem(
      'failed',
      `The command that asks git has failed (exit code ${answer.exitCode})${said && `: ${said}`}`,
    );
  }

  async function collect(attempt: Attempt, input: CollectDiffInput): Promise<CollectedFile> {
    const { sandboxId, owner } = input;
    const head = readPatchHead(await ask(attempt, sandboxId, patchText(input), longSeconds));
    if (!head?.content) throw cutOff;
    // The script itself refuses such a patch. But a sandbox may replace the programs of the script, and could send an
    // endless patch.
    if (head.size > maxPatchBytes) throw tooLarge;
    const isKept = head.size > patchPieceBytes;
    const content = isKept ? await readPieces(attempt, input, head) : head.content;
    if (content.byteLength !== head.size || !hasId(content, head.id)) throw cutOff;
    const stored = await results.put(input.key, content);
    if (isKept) await ask(attempt, sandboxId, patchRemovalText(owner), shortSeconds).catch(() => undefined);
    const isEmpty = content.byteLength === 0;
    return {
      path: patchName,
      ...stored,
      error: null,
      partial: head.missed !== null,
      unchanged: isEmpty,
      diff: {
        outcome: isEmpty ? 'no_changes' : 'changes',
        repository: input.repository,
        base: input.base,
        changedFiles: changedFilesOf(content),
        notes: notesOf(head),
      },
    };
  }

  async function readPieces(
    attempt: Attempt,
    { sandboxId, owner }: CollectDiffInput,
    head: PatchHead,
  ): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let offset = 0; offset < head.size; offset += patchPieceBytes) {
      const piece = readContent(await ask(attempt, sandboxId, patchPieceText(owner, head.id, offset), shortSeconds));
      if (piece?.byteLength !== Math.min(patchPieceBytes, head.size - offset)) throw cutOff;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  return {
    /**
     * Finds the commit to which the changes of a repository are compared. Call it before the first prompt. If there is
     * no such commit, this is not a failure. Safe to repeat: the sandbox keeps the result of the first call.
     */
    recordDiffBase: ({ sandboxId, ...input }: DiffBaseInput): Promise<DiffBase> =>
      repeatable(async (attempt) => {
        try {
          const base = readBase(await ask(attempt, sandboxId, baseText(input), shortSeconds));
          if (base) return { kind: 'known', ...base };
          throw cutOff;
        } catch (error) {
          if (!(error instanceof DiffProblem)) throw error;
          return { kind: 'unknown', outcome: error.outcome, message: error.message };
        }
      }),

    /**
     * Collects all changes since the base into the result store, as one patch: commits, the index, the working tree and
     * untracked files. If there is no patch, this is not a failure. Changes nothing in the repository. Safe to repeat.
     */
    collectDiff: (input: CollectDiffInput): Promise<CollectedFile> =>
      repeatable(async (attempt) => {
        try {
          return await collect(attempt, input);
        } catch (error) {
          if (!(error instanceof DiffProblem)) throw error;
          const { outcome, message } = error;
          const diff: CollectedDiff = { ...noDiff, outcome, repository: input.repository, base: input.base };
          return { ...noFile, path: patchName, error: message, diff };
        }
      }),
  };
}

const noDiff = { changedFiles: null, notes: [] } as const;
const noFile = { size: null, sha256: null, ref: null, partial: false, unchanged: null } as const;

const tooLarge = new DiffProblem('too_large', problemOf('too_large', '').message);
const cutOff = new DiffProblem('output_cut', 'The service returned only a part of the patch');

/** @throws DiffProblem for an answer that says why there is no patch */
function checked(answer: DiffAnswer): DiffAnswer {
  const { word } = answer;
  if (word === 'base' || word === 'patch') return answer;
  const { outcome, message } = problemOf(word, messageOf(answer));
  throw new DiffProblem(outcome as DiffProblem['outcome'], message);
}

function problemOf(word: Exclude<DiffAnswer['word'], 'base' | 'patch'>, said: string): Problem {
  const reason = said === '' ? '' : `: ${said}`;
  switch (word) {
    case 'no_folder':
      return { outcome: 'not_a_repository', message: 'The sandbox has no such folder' };
    case 'git_missing':
      return { outcome: word, message: 'The sandbox has no git' };
    case 'not_a_repository':
      return { outcome: word, message: `The folder is in no git repository with a working tree${reason}` };
    case 'base_unknown':
      return { outcome: word, message: `The commit from which changes count is unknown${reason}` };
    case 'too_large': {
      const message = `The patch has more than ${maxPatchBytes / 1024 / 1024} MiB. Does .gitignore lack a folder?`;
      return { outcome: word, message };
    }
    case 'failed':
      return { outcome: word, message: `git cannot make the patch${reason}` };
  }
}

function notesOf({ submodules, filters, missed }: PatchHead): string[] {
  return [
    ...(submodules === 0
      ? []
      : [
          `The repository has submodules or repositories inside it (${submodules}): the patch names only their commits`,
        ]),
    ...(filters === null ? [] : [`Filters of the repository were not run: ${cut(filters, 200)}`]),
    ...(missed === null ? [] : [`git could not read every file: ${cut(missed, 500)}`]),
  ];
}
