/** Reads the prompts of `run` from text, files or stdin. */

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { decodeText } from '../../texts/decode-text.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

type PromptIo = Pick<CliIo, 'stdin' | 'cwd'>;

/**
 * Reads the prompts in order.
 * @param given each entry is stdin, the name of a file that exists, `@file`, or else the text of a prompt
 * @param texts values of `--prompt`, which are text or `@file`; they come after `given`. Omitted if the command has no
 *   such option
 * @throws UsageError if there is no prompt, a prompt is empty or lacks its quotes, or a file is missing
 */
export async function readPrompts(
  given: readonly string[],
  texts: readonly string[] | undefined,
  io: PromptIo,
): Promise<string[]> {
  if (given.filter(isStdin).length > 1) throw new UsageError('Stdin (-) can be given only once.');
  const asText = texts === undefined ? 'pass it on stdin (-)' : 'use --prompt';
  const prompts: string[] = [];
  for (const one of given) prompts.push(await readPrompt(one, { io, asText, isAlone: given.length === 1 }));
  prompts.push(...(await readTextsOrFiles(texts ?? [], '--prompt', io.cwd)));
  if (prompts.length === 0) {
    throw new UsageError(
      `No prompt given.${unreadStdin(io.stdin, 'run')} Pass text, a file, or - for stdin: ${programName} run "Say hello", ${programName} run task.md.`,
    );
  }
  return prompts;
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
  { io, asText, isAlone }: { readonly io: PromptIo; readonly asText: string; readonly isAlone: boolean },
): Promise<string> {
  if (isStdin(given)) {
    const what = 'The prompt from stdin';
    return notEmpty(textOf(await readAll(io.stdin), what), what);
  }
  if (given.startsWith('@')) return readTextOrFile(given, 'The prompt', io.cwd);
  notEmpty(given, 'The prompt');
  const path = resolve(io.cwd, given);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) {
    throw new UsageError(
      `${given} is a folder, not a prompt file. Pass a file, and the folder with --put. To send this as text, ${asText}.`,
    );
  }
  if (found) {
    const what = `The prompt file ${given}`;
    return notEmpty(textOf(await readFile(path), what), what);
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
 * @throws UsageError also for a text that is the name of an existing file: the agent would get the name as its prompt
 */
export async function readTextOrFile(value: string, option: string, cwd: string): Promise<string>;
export async function readTextOrFile(
  value: string | undefined,
  option: string,
  cwd: string,
): Promise<string | undefined>;
export async function readTextOrFile(
  value: string | undefined,
  option: string,
  cwd: string,
): Promise<string | undefined> {
  if (value === undefined) return undefined;
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
      `${option}: the file ${name} cannot be read. Check that it exists and is readable. A text that begins with @ names a file.`,
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

export async function readAll(stdin: AsyncIterable<string | Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
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

/** Reads a script for a shell as `readTextOrFile` does: a shell takes the CR of a line end of Windows for a part of the command. */
export async function readScript(value: string | undefined, option: string, cwd: string): Promise<string | undefined> {
  return (await readTextOrFile(value, option, cwd))?.replace(/\r\n/g, '\n');
}

/** Reads each of the texts as `readTextOrFile` does. One after another, so that the first wrong one is named. */
export async function readTextsOrFiles(given: readonly string[], what: string, cwd: string): Promise<string[]> {
  const texts: string[] = [];
  for (const one of given) texts.push(await readTextOrFile(one, what, cwd));
  return texts;
}
