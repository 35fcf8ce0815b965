/**
 * A folder whose content this process trusts, such as the home of a stack or the cache with its Temporal server. A
 * journal or a link in the home of another user had a command delete files.
 */
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, lstat, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';
import { diskFull, isDiskFull } from '../errors/disk-full.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { makeFolders } from './make-folders.js';
import { byOwnUser, isOpenToOthers, isTrustedOwner, isWritableByOthers, ownUser, problemOnTheWay } from './owner.js';
import { unlessMissing } from './private-file.js';

interface TrustedFolder {
  readonly path: string;
  /** The setting that names the folder, for messages. */
  readonly setting: 'SANDFLOW_HOME' | 'SANDFLOW_CACHE' | '--directory';
  /**
   * Whether the folder may belong to root, as in a container image that everybody uses. Default: false, for folders
   * with secrets.
   */
  readonly rootMayOwn?: boolean;
}

/**
 * Creates the folder with mode 700, or checks the existing one. The folder and its entries must belong to the user of
 * this process or to root; see `rootMayOwn`. Nobody else may write the folder or put another one in its place. If
 * others may only read the folder, its mode is changed to 700. Safe to repeat.
 * @throws SandflowError `home_not_trusted`, which says what is wrong and how to fix it; `home_not_writable`
 */
export async function prepareTrustedFolder(folder: TrustedFolder): Promise<void> {
  await checkTrustedFolder(folder);
  const path = resolve(folder.path);
  const probe = join(path, `.probe-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    await makeFolders(path, { mode: 0o700 });
    await writeFile(probe, '', { mode: 0o600, flag: 'wx' });
    await rm(probe);
  } catch (cause) {
    if (isDiskFull(cause)) throw diskFull(path, cause);
    throw await notWritable(folder, cause);
  }
}

/**
 * Makes the checks of `prepareTrustedFolder`, but creates nothing. The folder need not exist.
 * @throws SandflowError `home_not_trusted`
 */
export async function checkTrustedFolder({ path: given, setting, rootMayOwn }: TrustedFolder): Promise<void> {
  const path = resolve(given);
  const refuse = (what: string, mend: string) => {
    const message = `${setting} (${path}) is not trusted: ${what}. ${mend} Or set ${setting} to another directory that belongs to you.`;
    return new SandflowError('home_not_trusted', message);
  };
  const cannot = async (cause?: unknown): Promise<never> => {
    throw await notWritable({ path, setting }, cause);
  };
  const { steps, real } = await walkPath(path).catch(cannot);
  for (const step of steps) {
    // The folder itself is checked below.
    if (step.path === real) continue;
    const problem = problemOnTheWay(step.stats);
    if (problem) throw refuse(`${step.path}, which is on its path, ${problem}`, 'Correct its owner and mode.');
  }
  if (real === undefined) return;
  const stats = await stat(real);
  if (!stats.isDirectory()) return cannot();
  const own = ownUser();
  if (own !== undefined && stats.uid !== own && !(rootMayOwn && stats.uid === 0)) {
    const inIt = stats.uid === 0 ? `Name a folder in it, like ${join(path, 'sandflow')}.` : 'Run it as that user.';
    const mend = own === 0 ? 'Do not run this as root, with sudo for example.' : inIt;
    throw refuse(`it belongs to user ${stats.uid}, and this is user ${own}`, mend);
  }
  if (isWritableByOthers(stats)) {
    throw refuse('others may write to it', `Check that all files in it are yours, then run \`chmod 700 ${path}\`.`);
  }
  const problem = await problemInside(real, isOpenToOthers(stats)).catch(cannot);
  if (problem) throw refuse(problem, 'Check what it is, then remove it or correct its owner and mode.');
  if (isOpenToOthers(stats) && stats.uid === own) await chmod(real, 0o700);
}

async function notWritable({ path, setting }: TrustedFolder, cause: unknown): Promise<SandflowError> {
  const file = await fileOnTheWay(resolve(path));
  const message = file
    ? `${setting} (${resolve(path)}) is not a directory: ${file} is a file. Set it to a directory that belongs to you.`
    : `${setting} (${resolve(path)}) is not writable${byOwnUser()}: set it to a directory that belongs to you, or correct its owner and mode.`;
  return new SandflowError('home_not_writable', message, { cause });
}

/** The path, or the part of it, that is no directory; undefined if all that exists is one, or cannot be looked at. */
async function fileOnTheWay(path: string): Promise<string | undefined> {
  for (let at = path; ; at = dirname(at)) {
    const stats = await stat(at).catch(() => undefined);
    if (stats || dirname(at) === at) return stats?.isDirectory() === false ? at : undefined;
  }
}

/** @param others true if other users may enter the folder: then each entry must refuse them by its own mode */
async function problemInside(folder: string, others: boolean): Promise<string | undefined> {
  for (const name of await readdir(folder)) {
    const entry = join(folder, name);
    // Another process of ours may remove it meanwhile.
    const stats = await unlessMissing(lstat(entry));
    if (!stats) continue;
    if (!isTrustedOwner(stats.uid)) return `${entry} belongs to user ${stats.uid}`;
    if (stats.isSymbolicLink()) {
      const target = await unlessMissing(stat(entry));
      if (target && !isTrustedOwner(target.uid)) return `${entry} is a link to a file of user ${target.uid}`;
      if (target && isWritableByOthers(target)) return `${entry} is a link to a file that others may write to`;
    } else if (others && isWritableByOthers(stats)) return `others may write to ${entry}`;
  }
  return undefined;
}

/** The most links that Linux follows in one path. */
const maxLinks = 40;

/**
 * Collects every folder and link that a path leads through. Anyone who may change one of them decides where the path
 * leads.
 * @param path absolute
 * @returns `steps`: every part of the path from the root on, including links and the parts of their targets. `real`: the
 *   path without links; undefined if a part of it does not exist
 * @throws errors of `lstat` and `readlink`; a missing part ends the walk instead
 */
async function walkPath(path: string) {
  const { root } = parse(path);
  const steps: { readonly path: string; readonly stats: Stats }[] = [{ path: root, stats: await lstat(root) }];
  const rest = partsOf(path.slice(root.length));
  let at = root;
  for (let links = 0; rest.length > 0; ) {
    const next = join(at, rest.shift() ?? '');
    const stats = await unlessMissing(lstat(next));
    if (!stats) return { steps, real: undefined };
    steps.push({ path: next, stats });
    if (!stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > maxLinks) throw new Error(`${path} leads through too many links.`);
    const target = await readlink(next);
    if (isAbsolute(target)) at = parse(target).root;
    rest.unshift(...partsOf(target));
  }
  return { steps, real: at };
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}
