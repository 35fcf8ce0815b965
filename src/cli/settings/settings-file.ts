/** Reads the file of a job or a batch: its prompts or items, and its settings. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { settingsOn } from '../../job-settings/fields.js';
import type { Kind } from '../../job-settings/setting.js';
import { readYaml } from '../../settings/read-yaml.js';
import { joinPair } from '../../texts/path-pair.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { readTextFile } from '../text-file.js';
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

const whats = { run: 'job', fanout: 'batch' } as const;

/**
 * Paths in the file are relative to its folder, those of the answer to `cwd`, or absolute.
 * @returns the settings by their names, and of a batch: a file of items, or the items
 * @throws UsageError naming the line of each problem
 */
export async function readSettingsFile(command: FileCommand, file: string, { cwd }: Pick<CliIo, 'cwd'>) {
  const path = resolve(cwd, file);
  const text = await readTextFile(path, `The ${whats[command]} file ${file}`);
  const way = command === 'run' ? `run @${file}` : `fanout --format file ${file}`;
  const as = `To send the file itself as the prompt: ${programName} ${way}.`;
  const read = readYaml<FileSettings>(text, {
    file,
    schema: command === 'run' ? jobFileSchema : batchFileSchema,
    whole: `the ${whats[command]}`,
    textsBelow: 'items',
    refuse: (lines, cause) =>
      new UsageError(`${file} is not the file of a ${whats[command]}:\n  ${lines.join('\n  ')}\n${as}`, { cause }),
  });
  const { items, ...settings } = read;
  const folder = dirname(path);
  const inFolder = (local: string) => (folder === resolve(cwd) || local === '-' ? local : resolve(folder, local));
  const requireText = (name: string, text: string) => {
    if (!isFile(resolve(folder, text))) return;
    const how = name === 'items' ? `items: ${text} alone, not in a list` : `${name}: "@${text}"`;
    throw new UsageError(`${file}: ${name}: ${text} is a file. For its content, use ${how}.`);
  };
  const placed = settingsOn(command).flatMap(({ name, kind, asIs }): [string, unknown][] => {
    const value = settings[name];
    return value === undefined ? [] : [[name, asIs ? value : inPlace(kind, value, { name, inFolder, requireText })]];
  });
  const placedItem = (item: unknown): unknown => {
    if (typeof item === 'string') requireText('items', item);
    if (typeof item !== 'object' || item === null || !('put' in item) || typeof item.put !== 'object') return item;
    const put = Object.entries(item.put ?? {}).map(([remote, local]) => [remote, inFolder(String(local))]);
    return { ...item, put: Object.fromEntries(put) };
  };
  return {
    settings: Object.fromEntries(placed) as FileSettings,
    items:
      typeof items === 'string'
        ? inFolder(items)
        : Array.isArray(items)
          ? { file, items: items.map(placedItem) }
          : undefined,
  };
}

interface Placing {
  readonly name: string;
  readonly inFolder: (local: string) => string;
  /** Refuses the name of a file where its text was probably meant. */
  readonly requireText: (name: string, text: string) => void;
}

/** Makes the names of files on this machine relative to `cwd`. */
function inPlace(kind: Kind, value: unknown, placing: Placing): unknown {
  const { name, inFolder, requireText } = placing;
  if (Array.isArray(value)) return value.map((one) => inPlace(kind, one, placing));
  if (typeof value !== 'string') return value;
  if (kind === 'prompts' || kind === 'text' || kind === 'fields') {
    if (value.startsWith('@')) return `@${inFolder(value.slice(1))}`;
    requireText(name, value);
    return value;
  }
  if (kind !== 'files') return value;
  const { local, remote } = parsePutPair(value);
  return joinPair(inFolder(local), remote);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // Too long a text, and one with other characters than a name has, is no file either.
    return false;
  }
}
