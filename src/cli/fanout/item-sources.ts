/** The files and stdin that items come from. Each can be read twice: once to check the items, and once to send them. */

import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatOf, type ItemFormat, type ItemSource } from '../../fanout/index.js';
import { editsBetween } from '../../texts/edits.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { isStdin, unreadStdin } from '../run/read-prompts.js';
import { UsageError } from '../usage-error.js';

/** The commands of `fanout`. A mistyped one is read as a file. */
export const batchCommands = ['list', 'show', 'watch', 'cancel', 'resume', 'results', 'logs', 'report'];

export interface ItemSources {
  readonly sources: readonly ItemSource[];
  /** Removes the copies of stdin and pipes. */
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
      `No items given.${unreadStdin(io.stdin, 'fanout')} Pass a file of prompts, or - for stdin: ${programName} fanout prompts.txt, ${programName} fanout issues.csv --prompt "Fix {{issue}}".`,
    );
  }
  if (given.filter(isStdin).length > 1) throw new UsageError('Stdin (-) can be given only once.');
  // One after another, so that the first wrong one is named.
  const kinds: Awaited<ReturnType<typeof kindOf>>[] = [];
  for (const file of given) kinds.push(await kindOf(file, io.cwd));
  const prose = format === undefined ? given.find((file) => /\.(?:md|markdown)$/i.test(file)) : undefined;
  if (prose !== undefined) {
    throw new UsageError(
      `${prose} is Markdown: each of its lines would be an item. For one job use ${programName} run ${prose}, for a template --prompt @${prose}, and for one prompt per line --format text.`,
    );
  }
  const copies = kinds.includes('stream') ? await mkdtemp(join(tmpdir(), 'sandflow-items-')) : undefined;
  const close = async () => {
    if (copies !== undefined) await rm(copies, { recursive: true, force: true });
  };
  const sources: ItemSource[] = [];
  try {
    for (const [index, file] of given.entries()) {
      let path = resolve(io.cwd, file);
      if (kinds[index] === 'stream' && copies !== undefined) {
        const stream = isStdin(file) ? Readable.from(io.stdin) : createReadStream(path);
        path = join(copies, String(index));
        await pipeline(stream, createWriteStream(path, { mode: 0o600 }));
      }
      sources.push({
        file: isStdin(file) ? 'stdin' : file,
        format: format ?? formatOf(file),
        guessed: format === undefined,
        open: () => createReadStream(path),
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { sources, close };
}

/** Stdin, a pipe and a device can be read only once, so they are copied. */
async function kindOf(file: string, cwd: string): Promise<'file' | 'stream'> {
  if (isStdin(file)) return 'stream';
  const found = await stat(resolve(cwd, file)).catch((cause: unknown) => {
    const meant = batchCommands.find((command) => editsBetween(file, command) <= 2);
    const advice = meant === undefined ? '' : ` Did you mean ${programName} fanout ${meant}?`;
    const isText = meant === undefined && /\s/.test(file);
    const how = isText
      ? ` Items come from a file or stdin, one prompt a line: printf "%s\\n" "Say hello" "Say bye" | ${programName} fanout -`
      : '';
    throw new UsageError(`The items file ${file} does not exist.${advice}${how}`, { cause });
  });
  if (found.isDirectory()) {
    throw new UsageError(`${file} is not a file. Use a file of prompts: text, JSONL, JSON or CSV.`);
  }
  return found.isFile() ? 'file' : 'stream';
}
