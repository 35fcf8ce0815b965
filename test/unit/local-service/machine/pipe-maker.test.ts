/** Commands that start at once each have pipes of their own. Unit tier: under a second. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../../../src/local-service/machine/program.js';
import { createPipeMaker } from '../../../../src/local-service/machine/running/pipe-maker.js';
import { temporaryDirectory } from '../../cli/temporary-directory.js';

const namesOfPipes = ['script', 'status', 'stderr', 'stdin', 'stdout'];

it('makes pipes once, although those of the first commands are the last to be ready', async () => {
  const folder = await temporaryDirectory();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const makePipes = createPipeMaker(join(folder, 'store'), async (file, args, options) => {
    if (args.includes(join(folder, 'store', '1', 'script'))) await released;
    return runProgram(file, args, options);
  });
  const take = async (number: number): Promise<string> => {
    const taken = join(folder, String(number));
    await makePipes(taken);
    return taken;
  };
  const numbers = Array.from({ length: 48 }, (_, number) => number);
  const early = numbers.slice(0, 16).map(take);
  const later = await Promise.all(numbers.slice(16).map(take));
  release();
  for (const taken of [...(await Promise.all(early)), ...later])
    expect((await readdir(taken)).sort()).toEqual(namesOfPipes);
});

it('gives the next command new pipes after some could not be made', async () => {
  const folder = await temporaryDirectory();
  const makePipes = createPipeMaker(join(folder, 'store'), async (file, args, options) => {
    const isFirst = args.includes(join(folder, 'store', '1', 'script'));
    return isFirst ? { exitCode: 1, stdout: '', stderr: 'mkfifo: no space\n' } : await runProgram(file, args, options);
  });
  const target = join(folder, 'pipes');
  await expect(makePipes(target)).rejects.toThrow('The pipes of the command could not be made: mkfifo: no space');
  await makePipes(target);
  expect((await readdir(target)).sort()).toEqual(namesOfPipes);
});
