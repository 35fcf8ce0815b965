/** Reads the prompts of `run` from text, files or stdin. */

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { decodeText } from '../../texts/decode-text.js';
import type { CliIo } from '../io.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

type PromptIo = Pick<CliIo, 'stdin' | 'stderr' | 'cwd'>;

/** The options of prompts. */
export interface PromptOptions {
  /** Each is text or `@file`. */
  readonly prompt?: readonly string[];
  /** Each is text, whatever it says. */
  readonly promptText?: readonly string[];
  /** True: does not say which files are read. */
  readonly quiet?: boolean;
}

const asText = 'use --prompt-text';
const toSendAt = ` To send this as text, ${asText}.`;

/**
 * Reads the prompts in order, and says which files it reads if stdin is no terminal: a script may pass what others wrote.
 * @param given each entry is stdin, the name of a file that exists, `@file`, or else the text of a prompt
 * @param options of `--prompt`, and then of `--prompt-text`; they come after `given`
 * @throws UsageError if there is no prompt, a prompt is empty or lacks its quotes, or a file is missing
 */
export async function readPrompts(
  given: readonly string[],
  { prompt = [], promptText = [], quiet }: PromptOptions,
  { stdin, stderr, cwd }: PromptIo,
): Promise<string[]> {
  if (given.filter(isStdin).length > 1) throw new UsageError('Stdin (-) can be given only once.');
  const sayRead = (file: string) => {
    if (!stdin.isTTY && !quiet) stderr.write(`${oneLine(`The prompt is the text of the file ${file}.`)}\n`);
  };
  const prompts: string[] = [];
  for (const one of given) prompts.push(await readPrompt(one, { stdin, cwd, sayRead }, given.length === 1));
  for (const one of prompt) {
    prompts.push(await readTextOrFile(one, '--prompt', cwd, toSendAt));
    if (one.startsWith('@')) sayRead(one.slice(1));
  }
  prompts.push(...promptText.map((text) => notEmpty(text, '--prompt-text')));
  if (prompts.length === 0) {
    throw new UsageError(
      `No prompt given.${unreadStdin(stdin, 'run')} Pass text, a file, or - for stdin: ${programName} run "Say hello", ${programName} run task.md.`,
    );
  }
  return prompts;
}

/** Reads the one prompt of `continue` and `jobs prompt`. @throws UsageError as `readPrompts`, and for none or several */
export async function readOnePrompt(given: string | undefined, options: PromptOptions, io: PromptIo): Promise<string> {
  const words = given === undefined ? [] : [given];
  if (words.length + (options.promptText ?? []).length !== 1) {
    throw new UsageError('Give one prompt: text, a file, - for stdin, or --prompt-text TEXT.');
  }
  return (await readPrompts(words, options, io)).join();
}

/** A hint for a command that was not told to read stdin. It may wait for ever if it does, so it does not look. */
export function unreadStdin({ isTTY }: CliIo['stdin'], command: string): string {
  return isTTY ? '' : ` If stdin has it, use -: ${programName} ${command} -.`;
}

/** True for `-`, and for the names by which the system knows stdin. */
export function isStdin(given: string): boolean {
  return given === '-' || given === '/dev/stdin' || given === '/dev/fd/0';
}

async function readPrompt(
  given: string,
  { stdin, cwd, sayRead }: Pick<PromptIo, 'stdin' | 'cwd'> & { readonly sayRead: (file: string) => void },
  isAlone: boolean,
): Promise<string> {
  if (isStdin(given)) {
    const what = 'The prompt from stdin';
    return notEmpty(textOf(await buffer(stdin), what), what);
  }
  if (given.startsWith('@')) {
    const text = await readTextOrFile(given, 'The prompt', cwd, toSendAt);
    sayRead(given.slice(1));
    return text;
  }
  notEmpty(given, 'The prompt');
  const path = resolve(cwd, given);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) {
    throw new UsageError(
      `${given} is a folder, not a prompt file. Pass a file, and the folder with --put. To send this as text, ${asText}.`,
    );
  }
  if (found) {
    const what = `The prompt file ${given}`;
    const text = notEmpty(textOf(await readFile(path), what), what);
    sayRead(given);
    return text;
  }
  if (looksLikePath(given)) {
    throw new UsageError(`The prompt file ${given} does not exist. To send this as text, ${asText}.`);
  }
  // Languages whose letters have no case, such as Chinese, may write a sentence without blanks.
  if (isAlone || /[\s\p{Lo}]/u.test(given)) return given;
  throw new UsageError(
    `"${given}" would be a prompt of its own. Put quotes around each prompt: ${programName} run "Say hello". For a prompt of one word, ${asText}.`,
  );
}

/**
 * Reads an option whose value is text, or a file given as `@file`.
 * @param way what else a file that cannot be read is told with
 * @throws UsageError also for a text that is the name of an existing file: the agent would get the name as its prompt
 */
export async function readTextOrFile(value: string, option: string, cwd: string, way = ''): Promise<string> {
  if (isStdin(value)) throw new UsageError(`${option} does not read stdin by ${value}. Use ${option} @/dev/stdin.`);
  if (!value.startsWith('@')) {
    if (await isFile(value, cwd))
      throw new UsageError(`${option}: ${value} is a file. For its content, use ${option} @${value}.`);
    return notEmpty(value, option);
  }
  const name = value.slice(1);
  try {
    const what = `The file ${name} of ${option}`;
    return notEmpty(textOf(await readFile(resolve(cwd, name)), what), what);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(
      `${option}: the file ${name} cannot be read. Check that it exists and is readable. A text that begins with @ names a file.${way}`,
      { cause },
    );
  }
}

/** True also for a pipe, such as `<(command)`. */
async function isFile(text: string, cwd: string): Promise<boolean> {
  // Too long a text, and one with other characters than a name has, is no file either.
  return stat(resolve(cwd, text)).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

/** A mistyped name is an error, and not a prompt of one word. */
function looksLikePath(given: string): boolean {
  if (/\s|:\/\//.test(given)) return false;
  return given.includes('/') || /\.[a-z][a-z0-9]*$/i.test(given);
}

/** @throws UsageError if the content is not text, because the agent could not read it */
function textOf(content: Buffer, what: string): string {
  const { text, problem } = decodeText(content);
  if (text !== undefined) return text;
  throw new UsageError(`${what} ${problem}, or pass it with --put and mention it in the prompt.`);
}

function notEmpty(text: string, what: string): string {
  if (text.trim() === '') throw new UsageError(`${what} is empty.`);
  return text;
}

/** The settings whose text a file may hold. */
export interface Scripts {
  readonly setup?: string;
  readonly checkPrompt?: string;
}

/** Reads each as `readTextOrFile` does. A shell takes the CR of a line end of Windows for a part of the command. */
export async function readScripts(given: Scripts, cwd: string): Promise<Scripts> {
  const read = async (value: string, option: string) =>
    (await readTextOrFile(value, option, cwd)).replace(/\r\n?/g, '\n');
  return {
    ...(given.setup !== undefined && { setup: await read(given.setup, '--setup') }),
    ...(given.checkPrompt !== undefined && { checkPrompt: await read(given.checkPrompt, '--check-prompt') }),
  };
}

/** Reads each of the texts as `readTextOrFile` does. One after another, so that the first wrong one is named. */
export async function readTextsOrFiles(given: readonly string[], what: string, cwd: string): Promise<string[]> {
  const texts: string[] = [];
  for (const one of given) texts.push(await readTextOrFile(one, what, cwd));
  return texts;
}
