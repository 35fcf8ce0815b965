/** The files and stdin that items come from. Each can be read twice: once to check the items, and once to send them. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatOf, type ItemFormat, type ItemSource } from '../../fanout/index.js';
import type { CliIo } from '../io.js';
import { UsageError } from '../usage-error.js';

export interface ItemSources {
  readonly sources: readonly ItemSource[];
  /** Removes the copy of stdin. */
  close(): Promise<void>;
}

/**
 * @param given files, and `-` for stdin at most once
 * @param format format of every source; by default, each file's extension decides
 * @throws UsageError if no source is given, stdin is given twice, or a file is missing
 */
export async function openItemSources(
  given: readonly string[],
  format: ItemFormat | undefined,
  io: Pick<CliIo, 'stdin' | 'cwd'>,
): Promise<ItemSources> {
  if (given.length === 0) {
    throw new UsageError(
      'No items given. Pass a file of prompts, or - for stdin: sandflow fanout prompts.txt, sandflow fanout issues.csv --prompt "Fix {{issue}}".',
    );
  }
  if (given.filter((one) => one === '-').length > 1) throw new UsageError('Stdin (-) can be given only once.');
  for (const file of given) if (file !== '-') await checkFile(file, io.cwd);
  const spool = given.includes('-') ? await keepStdin(io.stdin) : undefined;
  return {
    sources: given.map((file) => ({
      file: file === '-' ? 'stdin' : file,
      format: format ?? formatOf(file),
      guessed: format === undefined,
      open: () => createReadStream(file === '-' && spool ? spool.path : resolve(io.cwd, file)),
    })),
    close: async () => void (await spool?.remove()),
  };
}

async function checkFile(file: string, cwd: string): Promise<void> {
  const found = await stat(resolve(cwd, file)).catch((cause: unknown) => {
    throw new UsageError(`The items file ${file} does not exist.`, { cause });
  });
  if (!found.isFile()) throw new UsageError(`${file} is not a file. Use a file of prompts: text, JSONL, JSON or CSV.`);
}

async function keepStdin(stdin: CliIo['stdin']): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-items-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  const path = join(directory, 'stdin');
  try {
    await pipeline(Readable.from(stdin), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}
