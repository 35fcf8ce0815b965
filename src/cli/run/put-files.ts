/** Reads the files of `--put`: small ones are part of the job's input, larger ones go through the result store. */
import { constants } from 'node:fs';
import { access, open, readdir, realpath, stat } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import { isFolderPath } from '../../contract/workflow-safe/folder-path.js';
import { maxFileBytes } from '../../contract/workflow-safe/limits.js';
import { isBelow } from '../../os/is-below.js';
import type { FilePut } from '../../protocol/job/job-input.js';
import { maxSteps } from '../../protocol/limits.js';
import { withoutEndSlashes } from '../../texts/urls.js';
import type { FolderList } from '../folders/pack-folder.js';
import type { PutPair } from '../settings/file-pairs.js';
import { UsageError } from '../usage-error.js';

const defaultMaxInlineBytes = 128 * 1024;

export interface LocalFile {
  readonly localPath: string;
  readonly remotePath: string;
  readonly size: number;
  /** True if its owner may execute it. */
  readonly isExecutable: boolean;
  /** True for a script of a shell with line ends of Windows, which no shell runs. */
  readonly hasCr: boolean;
  /** What is in a folder that is sent as one archive. Absent for a file. */
  readonly folder?: FolderList;
}

/** A file of `--put` that cannot be sent. The batch says it of a cell `put`. */
export class PutFileError extends UsageError {
  constructor(
    readonly problem: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`--put: ${problem}`, options);
  }
}

/**
 * Finds every file, recursing into folders, except those that are sent as one archive: these are listed. A path given on
 * the command line may be a link. Below a folder, a link to a
 * file inside that folder is followed. A link to a file outside is refused: otherwise the author of the folder would
 * choose which file of this machine the sandbox gets. A link to a folder is refused too, because it could form a cycle.
 * @throws UsageError if a file is missing, unreadable or too large, if there are too many, or if two have the same path
 * in the sandbox
 */
export async function findPutFiles(pairs: readonly PutPair[], cwd: string): Promise<LocalFile[]> {
  const files: LocalFile[] = [];
  for (const { local, remote } of pairs) {
    if (isFolderPath(local)) files.push(await findFolder(resolve(cwd, local), remote, local));
    else await addPath(resolve(cwd, local), remote, local, files, undefined);
  }
  const seen = new Set<string>();
  for (const { remotePath } of files) {
    const place = posix.normalize(remotePath);
    if (seen.has(place))
      throw new PutFileError(`two files would be written to ${remotePath} in the sandbox. Give each its own path.`);
    seen.add(place);
  }
  return files;
}

async function findFolder(path: string, remotePath: string, shown: string): Promise<LocalFile> {
  const localPath = await realpath(path).catch((cause: unknown) => {
    throw new PutFileError(`${shown} cannot be read${whyUnreadable(shown)}`, { cause });
  });
  if (!(await stat(localPath)).isDirectory())
    throw new PutFileError(`${shown} is a file. Name it without the slash at its end.`);
  const { listFolder } = await import('../folders/pack-folder.js');
  const folder = await listFolder(localPath, shown, {
    refuse: (problem, cause) => new PutFileError(problem, { cause }),
  });
  return { localPath, remotePath, size: folder.bytes, isExecutable: false, hasCr: false, folder };
}

/**
 * Says which path to collect is certainly a folder, because a file is written below it.
 * @returns the end of a message; undefined if there is none
 */
export function folderToCollect(collect: Iterable<string>, files: readonly LocalFile[]): string | undefined {
  for (const path of collect) {
    if (isFolderPath(path)) continue;
    const folder = posix.normalize(path);
    const isIn = (file: LocalFile, place: string) => isBelow(place, folder) || (file.folder && place === folder);
    const inner = files.find((file) => isIn(file, withoutEndSlashes(posix.normalize(file.remotePath))));
    if (inner) return `${path} is a folder: ${inner.remotePath} is put into it. Collect it as a folder: ${path}/`;
  }
  return undefined;
}

/**
 * Reads the files into the job's input.
 * @param store stores a content and returns its reference
 * @param options `maxInlineBytes`: how many bytes the input itself may hold; 128 KiB by default
 */
export async function readPutFiles(
  files: readonly LocalFile[],
  store: (content: Buffer) => Promise<string>,
  { maxInlineBytes = defaultMaxInlineBytes }: { readonly maxInlineBytes?: number } = {},
): Promise<FilePut[]> {
  const puts: FilePut[] = [];
  let inlineBytes = 0;
  for (const file of files) {
    const path = file.remotePath;
    if (file.folder) {
      puts.push({ path, content: { tarGz: await packParts(file.localPath, file.folder, store) } });
      continue;
    }
    const content = await readPutFile(file);
    const inline = inlineBytes + content.length <= maxInlineBytes;
    if (inline) inlineBytes += content.length;
    puts.push({ path, content: inline ? { base64: content.toString('base64') } : { ref: await store(content) } });
  }
  return puts;
}

async function packParts(
  localPath: string,
  folder: FolderList,
  store: (content: Buffer) => Promise<string>,
): Promise<string[]> {
  const { packFolder } = await import('../folders/pack-folder.js');
  const refs: string[] = [];
  for await (const part of packFolder(localPath, folder)) refs.push(await store(part));
  return refs;
}

/** The service writes files without modes. @returns a notice about scripts that will not run there; undefined without one */
export function scriptNotice(
  files: Iterable<Pick<LocalFile, 'remotePath' | 'isExecutable' | 'hasCr'>>,
): string | undefined {
  const all = [...files];
  const named = (is: 'isExecutable' | 'hasCr', why: string): string[] => {
    const [first, ...others] = new Set(all.flatMap((file) => (file[is] ? [file.remotePath] : [])));
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return first === undefined ? [] : [`The sandbox gets ${first}${more} ${why}`];
  };
  const notices = [
    ...named(
      'isExecutable',
      'without the permission to execute. Let the prompt run it with its interpreter, or chmod +x it.',
    ),
    ...named('hasCr', "with line ends of Windows, which no shell takes. Convert it: tr -d '\\r' < FILE > NEW_FILE"),
  ];
  return notices.length === 0 ? undefined : notices.join(' ');
}

async function startsAsCrScript(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(128), 0, 128, 0);
    return /^#![^\n]*sh\b[^\n]*\r\n/.test(buffer.toString('latin1', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

async function addPath(
  path: string,
  remote: string,
  shown: string,
  files: LocalFile[],
  top: string | undefined,
): Promise<void> {
  const unreadable = (cause: unknown): never => {
    throw new PutFileError(`${shown} cannot be read${whyUnreadable(shown)}`, { cause });
  };
  const found = await stat(path).catch(unreadable);
  await access(path, constants.R_OK).catch(unreadable);
  if (found.isFile()) {
    if (found.size > maxFileBytes) {
      throw new PutFileError(`${shown} has ${found.size} bytes; the limit is ${maxFileBytes} bytes.`);
    }
    const remotePath = top === undefined && remote.endsWith('/') ? posix.join(remote, posix.basename(path)) : remote;
    // A link is resolved now, so that changing it later does not redirect the read.
    files.push({
      localPath: await realpath(path),
      remotePath,
      size: found.size,
      isExecutable: (found.mode & 0o100) !== 0,
      hasCr: await startsAsCrScript(path).catch(unreadable),
    });
    // Counted here, before any file is copied into the result store.
    if (files.length > maxSteps) {
      throw new PutFileError(
        `there are more than ${maxSteps} files. With a slash at its end, as in --put FOLDER/, a folder is sent as one archive.`,
      );
    }
    return;
  }
  if (!found.isDirectory()) throw new PutFileError(`${shown} is neither a file nor a folder.`);
  const folder = top ?? (await realpath(path));
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    const innerShown = posix.join(shown, entry.name);
    if (entry.isSymbolicLink()) await requireInnerFile(inner, innerShown, folder);
    await addPath(inner, posix.join(remote, entry.name), innerShown, files, folder);
  }
}

/** The end of a sentence about a file that cannot be read. */
function whyUnreadable(path: string): string {
  // Node gives this character for bytes that are no UTF-8, and looks for another name then.
  if (path.includes('\ufffd'))
    return ': its name is not UTF-8, such as one in Latin-1. Rename it, or pack it into an archive.';
  const colon = path.includes(':') ? ' A colon in a path is written \\:, with a backslash before it.' : '';
  return `. Check that it exists and is readable.${colon}`;
}

/** @throws UsageError for a link that is broken, or that leads to a folder or out of `folder` */
async function requireInnerFile(link: string, shown: string, folder: string): Promise<void> {
  const target = await realpath(link).catch((cause: unknown) => {
    if (shown.includes('\ufffd')) throw new PutFileError(`${shown} cannot be read${whyUnreadable(shown)}`, { cause });
    throw new PutFileError(`${shown} is a broken link. Fix or remove it.`, { cause });
  });
  if ((await stat(target)).isDirectory()) {
    throw new PutFileError(`${shown} is a link to a folder. Use a separate --put for that folder.`);
  }
  if (isBelow(target, folder)) return;
  throw new PutFileError(
    `${shown} is a link to ${target}, outside the folder. Use a separate --put for that file, or remove the link.`,
  );
}

/**
 * Reads one file. Does not follow a link and does not wait for a pipe, because either may have replaced the file in the
 * meantime.
 * @throws PutFileError
 */
export async function readPutFile(file: LocalFile): Promise<Buffer> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    const handle = await open(file.localPath, flags);
    try {
      if (!(await handle.stat()).isFile()) throw new Error('It is no longer a file.');
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new PutFileError(`${file.localPath} cannot be read${whyUnreadable(file.localPath)}`, { cause });
  }
}
