/** Finds and reads the settings of a project. Its file comes with the code, so it is not trusted. */
import { constants, existsSync } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { homeFolder } from '../../os/home-folder.js';
import { isOwnGroup, isTrustedOwner } from '../../os/owner.js';
import { checkInput, problemLine } from '../../settings/input-problems.js';
import { withoutMark } from '../../texts/parse-json.js';
import { badConfiguration } from '../usage-error.js';

const fileName = 'sandflow.json';
const maxBytes = 64 * 1024;
const writableByEverybody = 0o002;
const writableByGroup = 0o020;

/**
 * @returns undefined if the folder belongs to no project with settings
 * @throws SandflowError `bad_configuration`, which quotes no unknown field: it may be a secret
 */
export async function readProject(cwd: string) {
  const path = findProjectFile(cwd);
  if (path === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(await readTrusted(path)));
  } catch (error) {
    // The message of the parser would quote the file.
    throw error instanceof SyntaxError ? badConfiguration(`${path}: this is not JSON.`) : error;
  }
  const { projectSchema } = await import('./file-schema.js');
  const { data, problems } = checkInput(projectSchema, value);
  if (problems === null) return { path, settings: data };
  throw badConfiguration(`${path}: ${problems.slice(0, 1).map(problemLine).join()}.`);
}

/**
 * Searches from `cwd` upwards to the root of its repository, or to the home of the user. Outside of both, looks only in
 * `cwd`, because everybody may write to a folder like `/tmp`.
 */
export function findProjectFile(cwd: string, home: string = homeFolder()): string | undefined {
  return searched(cwd, home)
    .map((folder) => join(folder, fileName))
    .find((path) => existsSync(path));
}

function searched(cwd: string, home: string): string[] {
  const folders = [cwd];
  for (let at = cwd; dirname(at) !== at; at = dirname(at)) folders.push(dirname(at));
  const root = folders.findIndex((folder) => existsSync(join(folder, '.git')));
  // A user without a home has `/`, which is everybody's.
  const last = root < 0 && dirname(home) !== home ? folders.indexOf(home) : root;
  return folders.slice(0, Math.max(0, last) + 1);
}

async function readTrusted(path: string): Promise<string> {
  const refuse = (why: string) =>
    badConfiguration(`${path} is not used: ${why}. Check its content, then make it a file of yours with mode 644.`);
  if ((await lstat(path)).isSymbolicLink()) throw refuse('it is a link');
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse('it is not a regular file');
    if (!isTrustedOwner(stats.uid)) throw refuse(`it belongs to user ${stats.uid}`);
    const byGroup = stats.mode & writableByGroup && !isOwnGroup(stats.gid);
    if (stats.mode & writableByEverybody || byGroup) throw refuse('others may write to it');
    if (stats.size > maxBytes) throw refuse('it is too large');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
