import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { batchCommands, itemSources } from '../../../../src/cli/fanout/item-sources.js';
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
  it('are files, pipes and stdin', async () => {
    const cwd = await temporaryDirectory();
    await promisify(execFile)('mkfifo', [join(cwd, 'pipe.jsonl')]);
    await writeFile(join(cwd, 'items.txt'), 'from a file');
    const given = ['pipe.jsonl', 'items.txt', '/dev/stdin'];
    const sources = await itemSources(given, {}, { cwd, stdin: stdin() });
    expect(sources.map(({ file, format }) => [file, format])).toEqual([
      ['pipe.jsonl', 'jsonl'],
      ['items.txt', 'text'],
      ['stdin', 'text'],
    ]);
    const [texts] = await Promise.all([
      Promise.all(sources.map(({ open }) => text(open()))),
      writeFile(join(cwd, 'pipe.jsonl'), '"from a pipe"'),
    ]);
    expect(texts).toEqual(['"from a pipe"', 'from a file', 'from stdin']);
  });

  it('may be a device, and not a folder', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'folder'));
    const sources = await itemSources(['/dev/null'], { format: 'csv' }, { cwd, stdin: stdin() });
    expect(await Promise.all(sources.map(({ open }) => text(open())))).toEqual(['']);
    const folder = itemSources(['folder'], {}, { cwd, stdin: stdin() });
    await expect(folder).rejects.toThrow('folder is not a file. Use a file of prompts');
    const twice = itemSources(['-', '/dev/fd/0'], {}, { cwd, stdin: stdin() });
    await expect(twice).rejects.toThrow('Stdin (-) can be given only once.');
  });
});

it('may be the items that a batch file holds itself', async () => {
  const itemsInFile = { file: 'batch.yaml', items: ['Say hello', { prompt: 'Say bye', id: 'b' }] };
  const sources = await itemSources([], { itemsInFile }, { cwd: '/', stdin: stdin() });
  expect(await Promise.all(sources.map(({ open }) => text(open())))).toEqual([
    '["Say hello",\n{"prompt":"Say bye","id":"b"}]',
  ]);
  expect(sources).toMatchObject([{ file: 'batch.yaml: item', format: 'json' }]);
});

it('knows every command of fanout, which may be mistyped', () => {
  const [fanout] = createProgram({} as never, '0.1.0', 'fanout').commands;
  expect(batchCommands).toEqual(fanout?.commands.map((command) => command.name()));
});
