/** Reads the file of a job or a batch: its prompts or items, and its settings. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { settingsOn } from '../../job-settings/fields.js';
import type { Kind } from '../../job-settings/setting.js';
import { readYaml } from '../../settings/read-yaml.js';
import { decodeText } from '../../texts/decode-text.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';
import { parsePutPair } from './file-pairs.js';
import { batchFileSchema, type FileCommand, type FileSettings, jobFileSchema } from './file-schema.js';

/** The items that a batch file holds itself. */
export interface ItemsInFile {
  /** The name that the user gave. */
  readonly file: string;
  /** Each a prompt, or an object as in JSONL. */
  readonly items: readonly unknown[];
}

export interface SettingsFile {
  /** By the names of settings. Paths are relative to `cwd`, or absolute. */
  readonly settings: FileSettings;
  /** Of a batch: a file of items, or the items. */
  readonly items: string | ItemsInFile | undefined;
}

const whats = { run: 'job', fanout: 'batch' } as const;

/**
 * Paths in the file are relative to its folder.
 * @throws UsageError naming the line of each problem
 */
export async function readSettingsFile(
  command: FileCommand,
  file: string,
  { cwd }: Pick<CliIo, 'cwd'>,
): Promise<SettingsFile> {
  const path = resolve(cwd, file);
  const text = await readText(command, file, path);
  const as = command === 'run' ? ` To send the file itself as the prompt: ${programName} run @${file}.` : '';
  const read = readYaml<FileSettings>(text, {
    file,
    schema: command === 'run' ? jobFileSchema : batchFileSchema,
    whole: `the ${whats[command]}`,
    refuse: (lines, cause) =>
      new UsageError(`${file} is not the file of a ${whats[command]}:\n  ${lines.join('\n  ')}\n${as.trim()}`.trim(), {
        cause,
      }),
  });
  const { items, ...settings } = read;
  const folder = dirname(path);
  const inFolder = (local: string) => (folder === resolve(cwd) ? local : resolve(folder, local));
  const placed = settingsOn(command).flatMap(({ name, kind }): [string, unknown][] =>
    settings[name] === undefined ? [] : [[name, inPlace(kind, settings[name], inFolder)]],
  );
  return {
    settings: Object.fromEntries(placed),
    items: typeof items === 'string' ? inFolder(items) : Array.isArray(items) ? { file, items } : undefined,
  };
}

async function readText(command: FileCommand, file: string, path: string): Promise<string> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new UsageError(`The ${whats[command]} file ${file} cannot be read. Check that it exists and is readable.`, {
      cause,
    });
  });
  const { text, problem } = decodeText(bytes);
  if (text === undefined) throw new UsageError(`The ${whats[command]} file ${file} ${problem}.`);
  return text;
}

/** Makes the names of files on this machine relative to `cwd`. */
function inPlace(kind: Kind, value: unknown, inFolder: (local: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => inPlace(kind, one, inFolder));
  if (typeof value !== 'string') return value;
  if (kind === 'prompts' || kind === 'text') return value.startsWith('@') ? `@${inFolder(value.slice(1))}` : value;
  if (kind !== 'files') return value;
  const { local, remote } = parsePutPair(value);
  return `${inFolder(local)}:${remote}`;
}
