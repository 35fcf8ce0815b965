import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPrompts, readTextOrFile } from '../../../../src/cli/run/read-prompts.js';
import { UsageError } from '../../../../src/cli/usage-error.js';
import { temporaryDirectory } from '../temporary-directory.js';

function stdin(...chunks: string[]): AsyncIterable<string> {
  return (async function* () {
    yield* chunks;
  })();
}

describe('prompts of run', () => {
  it('takes an existing file, stdin for -, everything else as text, and then the texts of --prompt', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'task'), 'from the file');
    const prompts = await readPrompts(['task', 'Say hello', '-'], ['task'], { cwd, stdin: stdin('from ', 'stdin') });
    expect(prompts).toEqual(['from the file', 'Say hello', 'from stdin', 'task']);
  });

  it.each(['task.md', './task', '../task', '/no/such/task', 'notes/plan.txt'])(
    'refuses %s if no such file exists',
    async (given) => {
      const cwd = await temporaryDirectory();
      await expect(readPrompts([given], [], { cwd, stdin: stdin() })).rejects.toThrow(
        `The prompt file ${given} does not exist.`,
      );
    },
  );

  it.each([
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d])],
    ['a text with NUL', Buffer.from('a\0b')],
  ])('U19: refuses a file that is %s', async (_, content) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'task.md'), content);
    const reading = readPrompts(['task.md'], [], { cwd, stdin: stdin() });
    await expect(reading).rejects.toThrow('The prompt file task.md is not text in UTF-8.');
    await expect(readTextOrFile('@task.md', '--setup', cwd)).rejects.toThrow('is not text in UTF-8');
  });

  it('takes a sentence that ends like a file name as a text', async () => {
    const cwd = await temporaryDirectory();
    const given = 'Summarise README.md';
    await expect(readPrompts([given], [], { cwd, stdin: stdin() })).resolves.toEqual([given]);
  });

  it('refuses stdin that is not text, as it does a file', async () => {
    const bytes = (async function* () {
      yield Buffer.from([0xff, 0xfe, 0]);
    })();
    await expect(readPrompts(['-'], [], { cwd: '/', stdin: bytes })).rejects.toThrow(
      'The prompt from stdin is not text in UTF-8.',
    );
  });

  it('refuses no prompt, an empty text, an empty file, empty stdin, and stdin twice', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'empty.md'), ' \n');
    const io = { cwd, stdin: stdin('') };
    for (const given of [[], [' '], ['empty.md'], ['-'], ['-', '-']]) {
      await expect(readPrompts(given, [], io)).rejects.toBeInstanceOf(UsageError);
    }
    await expect(readPrompts([], [''], io)).rejects.toBeInstanceOf(UsageError);
  });

  it('reads @file of an option, and names the option if the file is missing', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'setup.sh'), 'make ready');
    await expect(readTextOrFile('@setup.sh', '--setup', cwd)).resolves.toBe('make ready');
    await expect(readTextOrFile('echo hi', '--setup', cwd)).resolves.toBe('echo hi');
    await expect(readTextOrFile('@none.sh', '--setup', cwd)).rejects.toThrow(
      '--setup: the file none.sh cannot be read.',
    );
  });
});
