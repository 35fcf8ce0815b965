/** Gathers the files of `--put`: small ones travel in the job itself, larger ones through the result store. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import type { FilePut } from '../../../workflows/job.js';
import { UsageError } from '../usage-error.js';
import type { PutPair } from './file-pairs.js';

const defaultMaxInlineBytes = 128 * 1024;
/** Assumption: the service takes no more in one JSON write. */
const maxFileBytes = 32 * 1024 * 1024;

export interface LocalFile {
  readonly localPath: string;
  readonly remotePath: string;
  readonly size: number;
}

/**
 * Finds every file, folders recursively. A link to a file is followed, a link to a folder is refused: it could lead in a circle.
 * @throws UsageError where a file is missing, unreadable or too large, or two have the same place in the sandbox
 */
export async function findPutFiles(pairs: readonly PutPair[], cwd: string): Promise<LocalFile[]> {
  const files: LocalFile[] = [];
  for (const { local, remote } of pairs) await addPath(resolve(cwd, local), remote, local, files, true);
  const seen = new Set<string>();
  for (const { remotePath } of files) {
    const place = posix.normalize(remotePath);
    if (seen.has(place)) throw new UsageError(`--put: two files would be written to ${remotePath} in the sandbox.`);
    seen.add(place);
  }
  return files;
}

/**
 * Reads the files into the form that the job takes.
 * @param store keeps a content under a key and returns its reference
 * @param options `maxInlineBytes`: how much of them may travel in the job itself; 128 KiB by default
 */
export async function readPutFiles(
  files: readonly LocalFile[],
  store: (content: Buffer) => Promise<string>,
  { maxInlineBytes = defaultMaxInlineBytes }: { readonly maxInlineBytes?: number } = {},
): Promise<FilePut[]> {
  const puts: FilePut[] = [];
  let inlineBytes = 0;
  for (const file of files) {
    const content = await readLocal(file);
    const inline = inlineBytes + content.length <= maxInlineBytes;
    if (inline) inlineBytes += content.length;
    puts.push({
      path: file.remotePath,
      content: inline ? { base64: content.toString('base64') } : { ref: await store(content) },
    });
  }
  return puts;
}

async function addPath(path: string, remote: string, shown: string, files: LocalFile[], top: boolean): Promise<void> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new UsageError(`--put: ${shown} cannot be read. Is it there?`, { cause });
  });
  if (found.isFile()) {
    if (found.size > maxFileBytes) {
      throw new UsageError(`--put: ${shown} has ${found.size} bytes, the most for one file is ${maxFileBytes}.`);
    }
    const remotePath = top && remote.endsWith('/') ? posix.join(remote, posix.basename(path)) : remote;
    files.push({ localPath: path, remotePath, size: found.size });
    return;
  }
  if (!found.isDirectory()) throw new UsageError(`--put: ${shown} is neither a file nor a folder.`);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    const innerShown = posix.join(shown, entry.name);
    if (entry.isSymbolicLink() && (await stat(inner).catch(() => undefined))?.isDirectory()) {
      throw new UsageError(`--put: ${innerShown} is a link to a folder. Put that folder by a --put of its own.`);
    }
    await addPath(inner, posix.join(remote, entry.name), innerShown, files, false);
  }
}

async function readLocal(file: LocalFile): Promise<Buffer> {
  try {
    return await readFile(file.localPath);
  } catch (cause) {
    throw new UsageError(`--put: ${file.localPath} cannot be read.`, { cause });
  }
}
