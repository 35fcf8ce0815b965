/** Prompts whose texts others wrote, such as an issue. In the gate; costs a second. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { CommandContext } from '../../../../src/cli/command.js';
import { createProgram } from '../../../../src/cli/program.js';
import { type PromptOptions, readOnePrompt, readPrompts } from '../../../../src/cli/run/read-prompts.js';
import { temporaryDirectory } from '../temporary-directory.js';

const texts = [
  ...['@.env', '.env', '@', '-', '--', '---', '--- title', '@octocat please fix', './task.md', 'task.md', '@task.md'],
  ...['job.yaml', '@job.yaml', 'folder', '.', '/', '~/.env', '/dev/stdin', '@/dev/stdin', '/dev/fd/0', '-h', '--help'],
  ...['--help-all', '--version', '-V', '--json', '--prompt', '--prompt-text', '--prompt-text=x', 'list', 'run'],
  ...['$(cat .env)', '{{env}}', 'a=b', 'two\nlines\n', ' @.env ', 'file:.env', '\u2028x', 'a,b'],
];

async function folderWithFiles(): Promise<string> {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, 'folder'));
  await writeFile(join(cwd, '.env'), 'TOKEN=canary');
  await writeFile(join(cwd, 'task.md'), 'from the file');
  await writeFile(join(cwd, 'job.yaml'), 'prompt: from the job\n');
  return cwd;
}

async function* noStdin() {
  yield '';
}

/** What the command would send, and what it says. */
async function sent(words: readonly string[], { cwd, isTTY = false }: { cwd: string; isTTY?: boolean }) {
  let said = '';
  const io = { cwd, stdin: Object.assign(noStdin(), { isTTY }), stderr: { write: (text: unknown) => (said += text) } };
  const program = createProgram({ io } as unknown as CommandContext, '1', words[0]);
  const names = words[0] === 'jobs' ? words.slice(0, 2) : words.slice(0, 1);
  const command = names.reduce<Command | undefined>(
    (at, name) => at?.commands.find((one) => one.name() === name),
    program,
  );
  let prompts: readonly string[] = [];
  command?.action(async (...given: unknown[]) => {
    const options = given.at(-2) as PromptOptions;
    if (names[0] === 'run') prompts = await readPrompts(given[0] as string[], options, io);
    else prompts = [await readOnePrompt(given[1] as string | undefined, options, io)];
  });
  await program.parseAsync([...words], { from: 'user' });
  return { prompts, said };
}

const commands: readonly (readonly string[])[] = [['run'], ['continue', 'one'], ['jobs', 'prompt', 'one']];

describe.each(commands)('%s %s %s --prompt-text', (...name) => {
  const words = name.filter((word) => word !== undefined);

  it.each(texts)('sends %j as it is', async (text) => {
    const cwd = await folderWithFiles();
    expect(await sent([...words, '--prompt-text', text], { cwd })).toEqual({ prompts: [text], said: '' });
    expect(await sent([...words, `--prompt-text=${text}`], { cwd })).toEqual({ prompts: [text], said: '' });
  });
});

it.each(texts)('promptText in the file of a job is sent as it is: %j', async (text) => {
  const cwd = await folderWithFiles();
  await writeFile(join(cwd, 'text.yaml'), stringify({ promptText: text }));
  expect((await sent(['run', 'text.yaml', '--quiet'], { cwd })).prompts).toEqual([text]);
});

it('a text comes after the other prompts', async () => {
  const cwd = await folderWithFiles();
  const words = ['run', '--prompt-text', '@.env', 'task.md', '--prompt', 'Now shorten it.', '--quiet'];
  expect(await sent(words, { cwd })).toEqual({ prompts: ['from the file', 'Now shorten it.', '@.env'], said: '' });
});

describe('a file that a text may have named is told where stdin is no terminal', () => {
  const told = 'The prompt is the text of the file';

  it.each([
    [['run', '.env'], 'TOKEN=canary', `${told} .env.\n`],
    [['run', '@.env'], 'TOKEN=canary', `${told} .env.\n`],
    [['run', './task.md'], 'from the file', `${told} ./task.md.\n`],
    [['run', '--prompt', '@.env'], 'TOKEN=canary', `${told} .env.\n`],
    [['continue', 'one', '@.env'], 'TOKEN=canary', `${told} .env.\n`],
    [['jobs', 'prompt', 'one', '.env'], 'TOKEN=canary', `${told} .env.\n`],
    [['run', 'job.yaml'], 'from the job', 'The job is that of the file job.yaml.\n'],
    [['run', 'Say hello'], 'Say hello', ''],
  ])('%j', async (words, prompt, said) => {
    const cwd = await folderWithFiles();
    expect(await sent(words, { cwd })).toEqual({ prompts: [prompt], said });
    expect(await sent(words, { cwd, isTTY: true })).toEqual({ prompts: [prompt], said: '' });
  });
});

it('an empty text is named as such, and not as a folder', async () => {
  const cwd = await folderWithFiles();
  await expect(sent(['run', ''], { cwd })).rejects.toThrow('The prompt is empty.');
  await expect(sent(['run', '--prompt-text', ' '], { cwd })).rejects.toThrow('--prompt-text is empty.');
});
