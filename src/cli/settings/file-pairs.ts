/** Reads `--put local[:remote]` and `--get remote[:local]`. */
import { posix } from 'node:path';
import { collectProblem, leadsOutOfSandbox, leadsOutText } from '../../contract/remote-paths.js';
import { isFolderPath } from '../../contract/workflow-safe/folder-path.js';
import { patchName } from '../../protocol/job/patch-name.js';
import { unexpandedPath } from '../../settings/mistaken-text.js';
import { joinPair, splitPair } from '../../texts/path-pair.js';
import { requirePlaces } from '../output-places.js';
import { UsageError } from '../usage-error.js';

export interface PutPair {
  /** With a slash at its end, it is a folder that is sent as one archive, with its modes. */
  readonly local: string;
  readonly remote: string;
}

export interface GetPair {
  readonly remote: string;
  readonly local: string;
  /** True if the option names the local file, and not only its folder. Such a file is replaced, and a folder never. */
  readonly named?: boolean;
}

/** Without a remote path, the file or folder keeps its own name in the working directory of the sandbox. */
export function parsePutPair(text: string): PutPair {
  const [local, given] = splitPair(text);
  const remote = given ?? posix.basename(local);
  if (local === '' || remote === '') {
    throw new UsageError(
      `--put must be LOCAL or LOCAL:REMOTE, like report.csv or report.csv:data/report.csv, not "${text}".`,
    );
  }
  for (const path of given === undefined ? [local] : [local, given]) requireMeantPath(path, '--put');
  requireInside(remote, '--put');
  return { local, remote };
}

/** Neither side expands anything: `~/x` would be a folder of that name. @throws UsageError */
function requireMeantPath(path: string, option: string): void {
  const problem = unexpandedPath(path);
  if (problem !== undefined) throw new UsageError(`${option}: ${JSON.stringify(path)} ${problem}.`);
}

/** Refuses now what the service would refuse only after the sandbox has started. @throws UsageError */
export function requireInside(remote: string, option: string): void {
  if (leadsOutOfSandbox(remote)) throw new UsageError(`${option}: ${remote} ${leadsOutText}.`);
}

/** Refuses a path of `--get` that cannot name one file or folder inside the sandbox. @throws UsageError */
function requireCollectable(remote: string): void {
  requireMeantPath(remote, '--get');
  requireInside(remote, '--get');
  const problem = collectProblem(remote);
  if (problem !== undefined) throw new UsageError(`--get: ${remote} ${problem}.`);
}

/** Without a local path, the file or folder is saved under its own name in the current folder. */
export function parseGetPair(text: string): GetPair {
  const [remote, given] = splitPair(text);
  const name = posix.basename(remote);
  if (remote === '' || given === '') {
    throw new UsageError(
      `--get must be REMOTE or REMOTE:LOCAL, like out/report.csv or out/report.csv:report.csv, not "${text}".`,
    );
  }
  requireCollectable(remote);
  if (isFolderPath(remote) && /^[./]*$/.test(name) && (given === undefined || given.endsWith('/'))) {
    throw new UsageError(`--get: ${remote} has no name of its own. Name the local folder, like ${remote}:results.`);
  }
  if (given === undefined) return { remote, local: name };
  requireMeantPath(given, '--get');
  return given.endsWith('/') ? { remote, local: `${given}${name}` } : { remote, local: given, named: true };
}

/**
 * Reads `--get-diff [remote[:local]]`. The default folder is the working directory of the sandbox.
 * @returns the folder and where the patch is saved; undefined without the option
 */
export function parseGetDiff(value: string | true | undefined): GetPair | undefined {
  if (value === undefined) return undefined;
  if (value === true) return { remote: '.', local: patchName };
  const [folder, given] = splitPair(value);
  const remote = folder || '.';
  const local = given ?? patchName;
  if (value === '' || local === '') {
    throw new UsageError(`--get-diff must be FOLDER or FOLDER:LOCAL, like app or app:fix.patch, not "${value}".`);
  }
  for (const path of [remote, local]) requireMeantPath(path, '--get-diff');
  requireInside(remote, '--get-diff');
  if (given === undefined) return { remote, local };
  return local.endsWith('/') ? { remote, local: `${local}${patchName}` } : { remote, local, named: true };
}

/** Reads `--get-diff [remote]` of a batch: its patches are saved below the folders of their items. */
export function diffFolderOf(value: string | true | undefined): string | undefined {
  if (value === undefined || value === true) return value && '.';
  if (value === '') throw new UsageError('--get-diff must be a folder, like app.');
  const [folder, local] = splitPair(value);
  if (local !== undefined) {
    throw new UsageError(
      `--get-diff must be a folder, like app, not "${value}". A batch saves each patch below the folder of its item.`,
    );
  }
  requireMeantPath(folder, '--get-diff');
  requireInside(folder, '--get-diff');
  return folder;
}

/** Adds the patch to the values of `--get`, in the form that `parseGetPairs` reads. */
export function withPatch(get: readonly string[], diff: GetPair | undefined): readonly string[] {
  if (diff === undefined) return get;
  if (diff.named) return [...get, joinPair(patchName, diff.local)];
  return [...get, diff.local === patchName ? patchName : joinPair(patchName, `${posix.dirname(diff.local)}/`)];
}

/**
 * @throws UsageError if a file cannot be saved at its local path, or if a path alone is a folder here: then it is most
 * likely one in the sandbox, too
 */
export function requireGetPlaces(pairs: readonly GetPair[], cwd: string): Promise<void> {
  const how = { option: '--get', refusesLink: true } as const;
  return requirePlaces(
    pairs.map(({ remote, local, named }) => ({
      ...how,
      kind: isFolderPath(remote) ? ('folder' as const) : ('file' as const),
      path: local,
      intoFolder: named === true || local !== posix.basename(remote),
    })),
    cwd,
  );
}

/** Reads every `--get`. Refuses two files for one local path: one would overwrite the other. */
export function parseGetPairs(texts: readonly string[]): GetPair[] {
  const pairs = texts.map(parseGetPair);
  const taken = new Map<string, string>();
  for (const { remote, local } of pairs) {
    const key = posix.normalize(local);
    const other = taken.get(key);
    if (other !== undefined) {
      throw new UsageError(
        `--get: ${other} and ${remote} would both be saved as ${local}. Give each its own local path.`,
      );
    }
    taken.set(key, remote);
  }
  return pairs;
}
