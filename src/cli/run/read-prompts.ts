/** Reads the prompts of `run` from text, files or stdin. */
import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { extname, isAbsolute, resolve } from 'node:path';
import type { CliIo } from '../io.js';
import { UsageError } from '../usage-error.js';

/** A prompt with one of these extensions must be a file: a mistyped name is an error, and not a one-word prompt. */
const fileEndings: ReadonlySet<string> = new Set(['.md', '.markdown', '.txt', '.prompt']);

/**
 * Reads the prompts in order.
 * @param given each entry is `-` for stdin, the name of a file that exists, or else the text of a prompt
 * @param texts prompts that are always taken as text; they come after `given`
 * @throws UsageError if there is no prompt, a prompt is empty, or a file is missing
 */
export async function readPrompts(
  given: readonly string[],
  texts: readonly string[],
  io: Pick<CliIo, 'stdin' | 'cwd'>,
): Promise<string[]> {
  if (given.filter((one) => one === '-').length > 1) throw new UsageError('Stdin (-) can be given only once.');
  const prompts: string[] = [];
  for (const one of given) prompts.push(await readPrompt(one, io));
  prompts.push(...texts.map((text) => notEmpty(text, 'A prompt of --prompt')));
  if (prompts.length === 0) {
    throw new UsageError(
      'No prompt given. Pass text, a file, or - for stdin: sandflow run "Say hello", sandflow run task.md.',
    );
  }
  return prompts;
}

async function readPrompt(given: string, io: Pick<CliIo, 'stdin' | 'cwd'>): Promise<string> {
  if (given === '-') {
    const what = 'The prompt from stdin';
    return notEmpty(textOf(await readAll(io.stdin), what), what);
  }
  const path = resolve(io.cwd, given);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) {
    const what = `The prompt file ${given}`;
    return notEmpty(textOf(await readFile(path), what), what);
  }
  if (found?.isDirectory() && looksLikePath(given)) {
    throw new UsageError(`${given} is a folder, not a prompt file. Pass a file, and the folder with --put.`);
  }
  if (looksLikePath(given)) {
    throw new UsageError(`The prompt file ${given} does not exist. To send this as text, use --prompt.`);
  }
  return notEmpty(given, 'The prompt');
}

/** Reads an option whose value is text, or a file given as `@file`. */
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
  if (!value.startsWith('@')) return notEmpty(value, option);
  const name = value.slice(1);
  try {
    const what = `The file ${name} of ${option}`;
    return notEmpty(textOf(await readFile(resolve(cwd, name)), what), what);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${option}: the file ${name} cannot be read. Check that it exists and is readable.`, {
      cause,
    });
  }
}

function looksLikePath(given: string): boolean {
  if (/\s/.test(given)) return false;
  return isAbsolute(given) || given.startsWith('./') || given.startsWith('../') || fileEndings.has(extname(given));
}

export async function readAll(stdin: AsyncIterable<string | Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** @throws UsageError if the content is not text, because the agent could not read it */
function textOf(content: Buffer, what: string): string {
  const text = content.toString('utf8');
  if (isUtf8(content) && !text.includes('\0')) return text;
  throw new UsageError(`${what} is not text in UTF-8. Convert it, or pass it with --put and mention it in the prompt.`);
}

function notEmpty(text: string, what: string): string {
  if (text.trim() === '') throw new UsageError(`${what} is empty.`);
  return text;
}
