/**
 * Stores the commands that notifications may run, by id. They are in a file of the worker, never in a workflow's input.
 */

import { SandflowError } from '../errors/sandflow-error.js';
import { acquireFileLock } from '../os/file-lock.js';
import { readPrivateFile, writePrivateFile } from '../os/private-file.js';
import { notifyCommandIdPattern } from '../protocol/notify-command.js';
import { requireOptions } from '../settings/required-options.js';
import { repeatedField } from '../texts/lost-fields.js';
import { withoutMark } from '../texts/parse-json.js';
import { notifyCommandId } from './command-id.js';

const longestCommand = 8_000;
const lockPatienceMs = 10_000;

/** The commands that notifications may run on this worker. */
export interface NotifyCommands {
  /**
   * The command with this id; undefined if the file has none. Reads the file at each call.
   * @throws SandflowError `file_not_trusted`, `bad_notify_commands`
   */
  find(id: string): Promise<string | undefined>;
  /**
   * Stores a command and returns its id for `notify.commandId`. The same text has the same id, and is stored once. Safe
   * to repeat and to call concurrently.
   * @throws SandflowError `bad_notify_command`, `file_not_trusted`, `bad_notify_commands`, `file_not_writable`
   */
  keep(command: string): Promise<string>;
  /**
   * Whether the file exists and is valid.
   * @throws SandflowError as `find`
   */
  isThere(): Promise<boolean>;
  /**
   * Creates the file if it is missing, and checks it.
   * @throws SandflowError as `find`, `file_not_writable`
   */
  ensure(): Promise<void>;
}

/**
 * @param file a JSON file of ids and commands, such as `{"tell-me": "notify-send sandflow"}`
 * @example
 * const notifyCommands = createNotifyCommands('/var/lib/sandflow/notify-commands.json');
 * const activities = createNotifyActivities({ notifyCommands });
 */
export function createNotifyCommands(file: string): NotifyCommands {
  requireOptions({ file }, { file: 'a text' });
  async function add(entries: Readonly<Record<string, string>>): Promise<void> {
    const lock = await acquireFileLock(`${file}.lock`, { waitMs: lockPatienceMs });
    try {
      const known = await readCommands(file);
      const all = new Map([...(known ?? []), ...Object.entries(entries)]);
      if (known?.size !== all.size)
        await writePrivateFile(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    } finally {
      lock.release();
    }
  }
  return {
    find: async (id) => (await readCommands(file))?.get(id),
    async keep(command) {
      const id = notifyCommandId(command);
      if (command.trim() === '' || command.length > longestCommand || command.includes('\0')) {
        throw new SandflowError('bad_notify_command', `A notify command must have 1 to ${longestCommand} characters.`);
      }
      if (!(await readCommands(file))?.has(id)) await add({ [id]: command });
      return id;
    },
    isThere: async () => (await readCommands(file)) !== undefined,
    async ensure() {
      if ((await readCommands(file)) === undefined) await add({});
    },
  };
}

async function readCommands(file: string): Promise<ReadonlyMap<string, string> | undefined> {
  const written = await readPrivateFile(file);
  if (written === undefined) return undefined;
  const text = withoutMark(written);
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    // The parser's own message would show what is in the file.
    throw badFile(file, 'is not JSON');
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw badFile(file, 'is not a JSON object');
  const repeated = repeatedField(text);
  if (repeated !== undefined) throw badFile(file, `has "${repeated.slice(0, 64)}" twice`);
  const entries = Object.entries(read);
  const wrong = entries.find(([id, command]) => !notifyCommandIdPattern.test(id) || typeof command !== 'string');
  if (wrong) throw badFile(file, `has a wrong entry at "${wrong[0].slice(0, 64)}"`);
  return new Map(entries as [string, string][]);
}

function badFile(file: string, why: string): SandflowError {
  const message = `${file} ${why}: it must hold ids and commands, such as {"mail-me": "mail -s sandflow me@example.com"}.`;
  return new SandflowError('bad_notify_commands', message);
}
