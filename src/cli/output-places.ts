/**
 * Checks before anything starts that results can be saved where the options say. A batch ran to its end before --out
 * was found to be a file.
 */
import { randomBytes } from 'node:crypto';
import { lstat, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { diskFull, isDiskFull } from '../errors/disk-full.js';
import { makeFolders } from '../os/make-folders.js';
import { withoutEndSlashes } from '../texts/urls.js';
import { stringIn } from './error-fields.js';
import { pathProblems } from './path-problems.js';
import { UsageError } from './usage-error.js';

export interface OutputPlace {
  /** The beginning of messages, such as `--out`. */
  readonly option: string;
  /** Relative to the current folder. */
  readonly path: string;
  /** What is saved there. A file may also be saved into a folder, under its own name, if `intoFolder` is true. */
  readonly kind: 'file' | 'folder';
  readonly intoFolder?: boolean;
  /** True if a link to a folder is no place: it may come from the code of a project, and lead anywhere. */
  readonly refusesLink?: boolean;
}

/**
 * Missing folders are created later. Now they are only tried.
 * @throws UsageError for the first place that cannot be used
 */
export async function requirePlaces(places: readonly OutputPlace[], cwd: string): Promise<void> {
  for (const place of places) await requirePlace(place, cwd);
}

/**
 * Checks `--out` of a report.
 * @throws UsageError if the report cannot be saved there
 */
export async function requireReportPlace(
  { out }: { readonly out?: string | undefined },
  { cwd }: { readonly cwd: string },
): Promise<void> {
  if (out !== undefined) await requirePlaces([{ option: '--out', path: out, kind: 'file' }], cwd);
}

async function requirePlace({ option, path, kind, intoFolder, refusesLink }: OutputPlace, cwd: string): Promise<void> {
  const target = resolve(cwd, path);
  const found = await kindOf(target);
  // A saved file takes the place of what was there, and a device or a pipe would be lost.
  if (found === 'other') {
    throw new UsageError(`${option}: ${path} is neither a file nor a folder. Choose another path.`);
  }
  if (found === 'folder' && kind === 'file' && !intoFolder) {
    throw new UsageError(
      `${option}: ${path} is a folder. Choose a file in it, like ${withoutEndSlashes(path)}/report.html.`,
    );
  }
  if (found === 'file' && kind === 'folder') throw new UsageError(`${option}: ${path} is a file. Choose a folder.`);
  if (found === 'folder' && refusesLink && (await lstat(target)).isSymbolicLink()) {
    throw new UsageError(`${option}: ${path} is a link to a folder. Name the place in that folder.`);
  }
  const place = found === 'folder' || kind === 'folder' ? join(target, 'file') : target;
  let folder = dirname(place);
  const missing: string[] = [];
  for (let above = await kindOf(folder); above !== 'folder'; above = await kindOf(folder)) {
    if (above !== undefined)
      throw new UsageError(`${option}: ${path} cannot be saved: ${folder} is a file, not a folder.`);
    if (dirname(folder) === folder) return;
    missing.push(folder);
    folder = dirname(folder);
  }
  try {
    await tryToSave(place, missing);
  } catch (cause) {
    if (isDiskFull(cause)) throw diskFull(target, cause);
    const why = whyNot[stringIn(cause, 'code') ?? ''] ?? 'it is not writable';
    throw new UsageError(`${option}: ${path} cannot be saved in ${folder}: ${why}. Choose another path.`, { cause });
  }
}

const whyNot: Readonly<Record<string, string>> = { ...pathProblems, ENOENT: 'nothing can be created there' };

/**
 * Only a try shows whether a file can be saved: below /proc, every folder is writable for root. Leaves nothing behind.
 * @param missing the folders above the place that do not exist, the innermost first
 */
async function tryToSave(place: string, missing: readonly string[]): Promise<void> {
  const temporary = `${place}.${randomBytes(4).toString('hex')}.part`;
  try {
    await makeFolders(dirname(place));
    await writeFile(temporary, '', { flag: 'wx' });
    await rm(temporary);
  } finally {
    // A folder stays if another process has put something into it.
    for (const folder of missing) await rmdir(folder).catch(() => undefined);
  }
}

/** Undefined if the path does not exist or cannot be read. */
async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | undefined> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'folder';
    return found.isFile() ? 'file' : 'other';
  } catch {
    return undefined;
  }
}
