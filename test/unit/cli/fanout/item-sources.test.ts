import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { batchCommands, openItemSources } from '../../../../src/cli/fanout/item-sources.js';
import { createProgram } from '../../../../src/cli/program.js';
import { temporaryDirectory } from '../temporary-directory.js';

const stdin = async function* () {
  yield 'from ';
  yield 'stdin';
};
const text = async (content: AsyncIterable<string | Uint8Array>) => {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
};

describe('the sources of items', () => {
  it('are files, pipes and stdin, and each can be read twice', async () => {
    const cwd = await temporaryDirectory();
    await promisify(execFile)('mkfifo', [join(cwd, 'pipe.jsonl')]);
    await writeFile(join(cwd, 'items.txt'), 'from a file');
    const given = ['pipe.jsonl', 'items.txt', '/dev/stdin'];
    const [{ sources, close }] = await Promise.all([
      openItemSources(given, undefined, { cwd, stdin: stdin() }),
      writeFile(join(cwd, 'pipe.jsonl'), '"from a pipe"'),
    ]);
    expect(sources.map(({ file, format }) => [file, format])).toEqual([
      ['pipe.jsonl', 'jsonl'],
      ['items.txt', 'text'],
      ['stdin', 'text'],
    ]);
    for (const _ of [1, 2]) {
      const texts = await Promise.all(sources.map(({ open }) => text(open())));
      expect(texts).toEqual(['"from a pipe"', 'from a file', 'from stdin']);
    }
    await close();
    expect((await readdir(cwd)).sort()).toEqual(['items.txt', 'pipe.jsonl']);
  });

  it('may be a device, and not a folder', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'folder'));
    const { sources, close } = await openItemSources(['/dev/null'], 'csv', { cwd, stdin: stdin() });
    expect(await Promise.all(sources.map(({ open }) => text(open())))).toEqual(['']);
    await close();
    const folder = openItemSources(['folder'], undefined, { cwd, stdin: stdin() });
    await expect(folder).rejects.toThrow('folder is not a file. Use a file of prompts');
    const twice = openItemSources(['-', '/dev/fd/0'], undefined, { cwd, stdin: stdin() });
    await expect(twice).rejects.toThrow('Stdin (-) can be given only once.');
  });
});

it('knows every command of fanout, which may be mistyped', () => {
  const [fanout] = createProgram({} as never, '0.1.0', 'fanout').commands;
  expect(batchCommands).toEqual(fanout?.commands.map((command) => command.name()));
});
