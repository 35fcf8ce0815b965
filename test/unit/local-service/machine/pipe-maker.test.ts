/** Commands that start at once each have pipes of their own. Unit tier: under a second. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as program from '../../../../src/local-service/machine/program.js';
import { createPipeMaker } from '../../../../src/local-service/machine/running/shell-pipes.js';
import { temporaryDirectory } from '../../cli/temporary-directory.js';

vi.mock(import('../../../../src/local-service/machine/program.js'), { spy: true });

const namesOfPipes = ['script', 'status', 'stderr', 'stdin', 'stdout'];

it('makes pipes once, although those of the first commands are the last to be ready', async () => {
  const folder = await temporaryDirectory();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { runProgram } = await vi.importActual<typeof program>('../../../../src/local-service/machine/program.js');
  vi.mocked(program.runProgram).mockImplementation(async (...args) => {
    if (args[1].includes(join(folder, '1', 'script'))) await released;
    return runProgram(...args);
  });
  onTestFinished(() => {
    vi.mocked(program.runProgram).mockReset();
  });
  const take = createPipeMaker(folder);
  const early = Array.from({ length: 4 }, take);
  const later = await Promise.all(Array.from({ length: 8 }, take));
  release();
  const numbers = [...(await Promise.all(early)), ...later];
  // Meanwhile, whatever else was begun comes to its end.
  while (numbers.length < 24) numbers.push(await take());
  expect(numbers).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  for (const number of numbers) expect((await readdir(join(folder, String(number)))).sort()).toEqual(namesOfPipes);
});

it('gives the next command new pipes after some could not be made', async () => {
  const folder = await temporaryDirectory();
  vi.mocked(program.runProgram).mockResolvedValueOnce({ exitCode: 1, stdout: '', stderr: 'mkfifo: no space\n' });
  const take = createPipeMaker(folder);
  await expect(take()).rejects.toThrow('The pipes of the command could not be made: mkfifo: no space');
  const number = await take();
  expect((await readdir(join(folder, String(number)))).sort()).toEqual(namesOfPipes);
});
