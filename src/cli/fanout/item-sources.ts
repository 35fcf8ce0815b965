/** The files and stdin that items come from. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { type ItemFormat, type ItemSource, kindOf } from '../../fanout/index.js';
import { editsBetween } from '../../texts/edits.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { isStdin, unreadStdin } from '../run/read-prompts.js';
import type { ItemsInFile } from '../settings/settings-file.js';
import { UsageError } from '../usage-error.js';
import type { FanoutOptions } from './options.js';

/** The commands of `fanout`. A mistyped one is read as a file. */
export const batchCommands = ['list', 'show', 'watch', 'cancel', 'resume', 'results', 'logs', 'report'];

/**
 * @param given files, and `-` for stdin at most once
 * @param options `format`: format of every source; by default, the name of each file decides. `itemsInFile`: used instead
 *   of `given`
 * @throws UsageError if no source is given, stdin is given twice, or a file is missing
 */
export async function itemSources(
  given: readonly string[],
  { format, itemsInFile }: Pick<FanoutOptions, 'format' | 'itemsInFile'>,
  io: Pick<CliIo, 'stdin' | 'cwd'>,
): Promise<readonly ItemSource[]> {
  if (itemsInFile) return [sourceOf(itemsInFile)];
  if (given.length === 0) {
    const why = `No items given.${unreadStdin(io.stdin, 'fanout')} Pass a file of prompts, or - for stdin: ${programName} fanout prompts.txt, ${programName} fanout issues.csv --prompt "Fix {{issue}}".`;
    throw new UsageError(why);
  }
  if (given.filter(isStdin).length > 1) throw new UsageError('Stdin (-) can be given only once.');
  // One after another, so that the first wrong one is named.
  for (const file of given) await requireReadable(file, io.cwd);
  return given.map((file) => ({
    file: isStdin(file) ? 'stdin' : file,
    format: format ?? formatOf(file),
    guessed: format === undefined,
    open: () => (isStdin(file) ? Readable.from(io.stdin) : createReadStream(resolve(io.cwd, file))),
  }));
}

function formatOf(file: string): ItemFormat {
  const { format, problem } = kindOf(isStdin(file) ? '' : file);
  if (format !== undefined) return format;
  throw new UsageError(`${file} ${problem}`);
}

/** One item on each line, so that an error names its number. */
function sourceOf({ file, items }: ItemsInFile): ItemSource {
  const text = `[${items.map((item) => JSON.stringify(item)).join(',\n')}]`;
  return { file: `${file}: item`, format: 'json', guessed: false, open: () => Readable.from([text]) };
}

async function requireReadable(file: string, cwd: string): Promise<void> {
  if (isStdin(file)) return;
  if (file.trim() === '') throw new UsageError('The name of a file of items is empty.');
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
}
