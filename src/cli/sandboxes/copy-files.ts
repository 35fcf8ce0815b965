/** `sandflow cp`: copies files into a sandbox, or a file or folder out of it. */
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { leadsOutOfSandbox, leadsOutText } from '../../contract/remote-paths.js';
import { unexpandedPath } from '../../settings/mistaken-text.js';
import { withoutEndSlashes } from '../../texts/urls.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { replaceFile } from '../replace-file.js';
import { findPutFiles, PutFileError, readPutFile, scriptNotice } from '../run/put-files.js';
import { plural } from '../units.js';
import { requireSandboxId, UsageError } from '../usage-error.js';

interface Place {
  readonly sandboxId: string;
  /** Empty for the working directory. */
  readonly path: string;
}

/** Safe to repeat: each copy replaces the one before. */
export async function copyFiles(from: string, to: string, context: CommandContext): Promise<void> {
  if (from === '' || to === '') throw new UsageError('Neither of the two may be empty.');
  const [source, target] = [placeOf(from), placeOf(to)];
  if ((source === undefined) === (target === undefined)) {
    throw new UsageError('One of the two must be in a sandbox, like bx_2345abcd:out/report.csv, and the other here.');
  }
  const problem = unexpandedPath(target ? from : to);
  if (problem !== undefined) throw new UsageError(`The path here ${problem}.`);
  if (target) await copyIn(from, target, context);
  else if (source) await copyOut(source, to, context);
}

function placeOf(text: string): Place | undefined {
  const [, sandboxId, path = ''] = /^(bx_[^:/]*):(.*)$/s.exec(text) ?? [];
  if (sandboxId === undefined) return undefined;
  requireSandboxId(sandboxId);
  if (leadsOutOfSandbox(path)) throw new UsageError(`${text}: ${path} ${leadsOutText}.`);
  return { sandboxId, path };
}

async function copyIn(local: string, { sandboxId, path }: Place, context: CommandContext): Promise<void> {
  const { io } = context;
  const remote = path === '' ? posix.basename(resolve(io.cwd, local)) : path;
  const found = await findPutFiles([{ local: withoutEndSlashes(local) || '/', remote }], io.cwd).catch(namingArgument);
  if (found.length === 0) throw new UsageError(`${local} has no files.`);
  await withService(context, async ({ service }) => {
    for (const file of found) {
      const content = (await readPutFile(file)).toString('base64');
      const body = { path: file.remotePath, content, encoding: 'base64' } as const;
      await service.writeFile(sandboxId, body, { signal: io.interrupted });
    }
  });
  const [first] = found;
  const what = found.length === 1 && first ? first.remotePath : `${plural(found.length, 'file')} below ${remote}`;
  io.stderr.write(`${sandboxId} has ${what}.\n`);
  const modes = scriptNotice(found);
  if (modes !== undefined) io.stderr.write(`${modes}\n`);
}

async function copyOut({ sandboxId, path }: Place, local: string, context: CommandContext): Promise<void> {
  const { io } = context;
  if (path === '') throw new UsageError(`Name a file or folder of the sandbox, like ${sandboxId}:out/report.csv.`);
  const target = resolve(io.cwd, local);
  const there = await stat(target).catch(() => undefined);
  if (there && !there.isDirectory() && !there.isFile())
    throw new UsageError(`${local} is neither a file nor a folder.`);
  const isFolder = local.endsWith('/') || there?.isDirectory() === true;
  const name = posix.basename(posix.normalize(path));
  // The home directory of the sandbox has no name of its own.
  const named = isFolder ? join(target, /^\.*$/.test(name) ? sandboxId : name) : target;
  const saved = await withService(context, async ({ service }) => {
    const { body, contentType } = await service.openArtifact(sandboxId, path, { signal: io.interrupted });
    // The service sends a folder as one archive.
    const isArchive = contentType === 'application/gzip' && !/\.t?gz$/.test(named);
    const place = isArchive ? `${named}.tar.gz` : named;
    try {
      await replaceFile(place, (temporary) => pipeline(body, createWriteStream(temporary, { mode: 0o600 })));
    } finally {
      body.destroy();
    }
    return place;
  });
  io.stderr.write(`${saved} is written.\n`);
}

function namingArgument(error: unknown): never {
  throw error instanceof PutFileError ? new UsageError(error.problem, { cause: error }) : error;
}
