/** Checks before anything starts that results can be saved where the options say. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { withoutEndSlashes } from '../contract/urls.js';
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
}

/**
 * Missing folders are created later.
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

async function requirePlace({ option, path, kind, intoFolder = false }: OutputPlace, cwd: string): Promise<void> {
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
  let folder = found === 'folder' ? target : dirname(target);
  for (let above = await kindOf(folder); above !== 'folder'; above = await kindOf(folder)) {
    if (above !== undefined)
      throw new UsageError(`${option}: ${path} cannot be saved: ${folder} is a file, not a folder.`);
    if (dirname(folder) === folder) return;
    folder = dirname(folder);
  }
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why =
      (pathProblems as Readonly<Record<string, string>>)[stringIn(cause, 'code') ?? ''] ?? 'it is not writable';
    throw new UsageError(`${option}: ${path} cannot be saved in ${folder}: ${why}. Choose another path.`, { cause });
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
