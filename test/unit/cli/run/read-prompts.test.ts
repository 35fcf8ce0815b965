import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readPrompts, readScripts, readTextOrFile } from '../../../../src/cli/run/read-prompts.js';
import { UsageError } from '../../../../src/cli/usage-error.js';
import { temporaryDirectory } from '../temporary-directory.js';

function stdin(...chunks: string[]): AsyncIterable<string> {
  return (async function* () {
    yield* chunks;
  })();
}

const stderr = { write: () => true };

describe('prompts of run', () => {
  it('says that stdin was not read, unless it is a terminal', async () => {
    const terminal = Object.assign(stdin(), { isTTY: true });
    await expect(readPrompts([], {}, { cwd: '/', stdin: stdin('text'), stderr })).rejects.toThrow(
      'If stdin has it, use -',
    );
    await expect(readPrompts([], {}, { cwd: '/', stdin: terminal, stderr })).rejects.toThrow(
      /^No prompt given\. Pass text/,
    );
  });

  it('takes an existing file, stdin for -, everything else as text, and then the texts of --prompt', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'task'), 'from the file');
    const prompts = await readPrompts(
      ['task', 'Say hello', '-'],
      { prompt: ['tasks'] },
      { cwd, stdin: stdin('from ', 'stdin'), stderr },
    );
    expect(prompts).toEqual(['from the file', 'Say hello', 'from stdin', 'tasks']);
  });

  it.each(['task.md', './task', '../task', '/no/such/task', 'notes/plan.txt', 'fail.sh', 'src/task'])(
    'refuses %s if no such file exists',
    async (given) => {
      const cwd = await temporaryDirectory();
      await expect(readPrompts([given], {}, { cwd, stdin: stdin(), stderr })).rejects.toThrow(
        `The prompt file ${given} does not exist.`,
      );
    },
  );

  it.each([
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d]), 'is not text in UTF-8'],
    ['a text with NUL', Buffer.from('a\n\0b'), 'has a NUL character in line 2'],
    ['UTF-16', Buffer.from('\ufeffa', 'utf16le'), 'is UTF-16'],
    ['UTF-16 without a mark', Buffer.from('a', 'utf16le'), 'has a NUL character in line 1'],
    ['Latin-1', Buffer.from('café', 'latin1'), 'is not text in UTF-8'],
  ])('refuses a file that is %s', async (_, content, problem) => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'task.md'), content);
    const reading = readPrompts(['task.md'], {}, { cwd, stdin: stdin(), stderr });
    await expect(reading).rejects.toThrow(`The prompt file task.md ${problem}.`);
    await expect(readTextOrFile('@task.md', '--setup', cwd)).rejects.toThrow(problem);
  });

  it.each([
    [['Say', 'hello'], '"Say" would be a prompt of its own. Put quotes around each prompt'],
    [['Say hello', 'again'], '"again" would be a prompt of its own.'],
    [['folder'], 'folder is a folder, not a prompt file.'],
    [['@none'], 'The prompt: the file none cannot be read.'],
  ])('refuses %j, which lacks its quotes or its file', async (given, why) => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'folder'));
    await expect(readPrompts(given, {}, { cwd, stdin: stdin(), stderr })).rejects.toThrow(why);
  });

  it('takes one word, a URL, and a word of --prompt as texts', async () => {
    const io = { cwd: await temporaryDirectory(), stdin: stdin(), stderr };
    expect(await readPrompts(['hello'], { prompt: ['again'] }, io)).toEqual(['hello', 'again']);
    expect(await readPrompts(['修复测试', '写文档'], {}, io)).toEqual(['修复测试', '写文档']);
    expect(await readPrompts(['https://example.com/issues/1'], {}, io)).toEqual(['https://example.com/issues/1']);
  });

  it('reads @file wherever a prompt is given', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'f'), 'from the file');
    expect(await readPrompts(['@f'], { prompt: ['@f'] }, { cwd, stdin: stdin(), stderr })).toEqual([
      'from the file',
      'from the file',
    ]);
    await expect(readPrompts(['x y'], { prompt: ['@none'] }, { cwd, stdin: stdin(), stderr })).rejects.toThrow(
      '--prompt: the file none cannot be read. Check that it exists and is readable. A text that begins with @ names a file. To send this as text, use --prompt-text.',
    );
  });

  it('takes no name of a file for a text', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'p 1.md'), 'x');
    await promisify(execFile)('mkfifo', [join(cwd, 'pipe')]);
    const io = { cwd, stdin: stdin(), stderr };
    const message = '--prompt: p 1.md is a file. For its content, use --prompt @p 1.md.';
    await expect(readPrompts(['x y'], { prompt: ['p 1.md'] }, io)).rejects.toThrow(message);
    await expect(readPrompts([], { prompt: ['pipe'] }, io)).rejects.toThrow('--prompt: pipe is a file.');
    const other = ['p 2.md', 'x'.repeat(10_000), 'a\0b', '.'];
    expect(await readPrompts([], { prompt: other }, io)).toEqual(other);
  });

  it('reads a pipe, and stdin by its names in the system', async () => {
    const cwd = await temporaryDirectory();
    const pipe = join(cwd, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const [prompts] = await Promise.all([
      readPrompts(['pipe', '/dev/stdin'], {}, { cwd, stdin: stdin('from stdin'), stderr }),
      writeFile(pipe, 'from the pipe'),
    ]);
    expect(prompts).toEqual(['from the pipe', 'from stdin']);
    const twice = readPrompts(['-', '/dev/fd/0'], {}, { cwd, stdin: stdin('a'), stderr });
    await expect(twice).rejects.toThrow('Stdin (-) can be given only once.');
  });

  it('names the way to send the name of a file', async () => {
    const io = { cwd: await temporaryDirectory(), stdin: stdin(), stderr };
    await expect(readPrompts(['fail.sh'], {}, io)).rejects.toThrow('To send this as text, use --prompt-text.');
  });

  it('takes a sentence that ends like a file name as a text', async () => {
    const cwd = await temporaryDirectory();
    const given = 'Summarise README.md';
    await expect(readPrompts([given], {}, { cwd, stdin: stdin(), stderr })).resolves.toEqual([given]);
  });

  it('refuses stdin that is not text, as it does a file', async () => {
    const bytes = (async function* () {
      yield Buffer.from([0xff, 0xfe, 0]);
    })();
    await expect(readPrompts(['-'], {}, { cwd: '/', stdin: bytes, stderr })).rejects.toThrow(
      'The prompt from stdin is UTF-16. Save it as UTF-8',
    );
  });

  it('refuses no prompt, an empty text, an empty file, empty stdin, and stdin twice', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'empty.md'), ' \n');
    const io = { cwd, stdin: stdin(''), stderr };
    for (const given of [[], [' '], ['empty.md'], ['-'], ['-', '-']]) {
      await expect(readPrompts(given, {}, io)).rejects.toBeInstanceOf(UsageError);
    }
    await expect(readPrompts([], { prompt: [''] }, io)).rejects.toBeInstanceOf(UsageError);
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

  it('reads a script without the CR of line ends of Windows, and a prompt with them', async () => {
    const cwd = await temporaryDirectory();
    const script = 'set -e\r\nprintf "a\\r"\r\ntouch ready\r\n';
    await writeFile(join(cwd, 'setup.sh'), `\ufeff${script}`);
    const forShell = 'set -e\nprintf "a\\r"\ntouch ready\n';
    await expect(readScripts({ setup: '@setup.sh' }, cwd)).resolves.toEqual({ setup: forShell });
    await expect(readScripts({ checkPrompt: script }, cwd)).resolves.toEqual({ checkPrompt: forShell });
    await expect(readTextOrFile('@setup.sh', '--prompt', cwd)).resolves.toBe(script);
  });
});
