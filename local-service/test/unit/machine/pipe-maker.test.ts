/** Commands that start at once each have pipes of their own. Unit tier: under a second. */
import { chmod, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/unit/cli/temporary-directory.js';
import { runProgram } from '../../../src/machine/program.js';
import { createPipeMaker } from '../../../src/machine/running/pipe-maker.js';

const namesOfPipes = ['script', 'status', 'stderr', 'stdin', 'stdout'];

it('makes pipes once, although those of the first commands are the last to be ready', async () => {
  const folder = await temporaryDirectory();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { make: makePipes } = createPipeMaker(folder, async (file, args, options) => {
    if (args.includes(join(folder, 'waiting', '1', 'script'))) await released;
    return runProgram(file, args, options);
  });
  let ready = 0;
  const take = async (number: number): Promise<string> => {
    const taken = join(folder, String(number));
    await makePipes(taken);
    ready += 1;
    return taken;
  };
  // Which commands get the pipes that are held depends on the file system.
  const all = Array.from({ length: 48 }, (_, number) => take(number));
  await expect.poll(() => ready).toBe(32);
  release();
  for (const taken of await Promise.all(all)) expect((await readdir(taken)).sort()).toEqual(namesOfPipes);
});

it('gives the next command new pipes after some could not be made', async () => {
  const folder = await temporaryDirectory();
  const { make: makePipes } = createPipeMaker(folder, async (file, args, options) => {
    const isFirst = args.includes(join(folder, 'waiting', '1', 'script'));
    return isFirst ? { exitCode: 1, stdout: '', stderr: 'mkfifo: no space\n' } : await runProgram(file, args, options);
  });
  const target = join(folder, 'pipes');
  await expect(makePipes(target)).rejects.toThrow('The pipes of the command could not be made: mkfifo: no space');
  await makePipes(target);
  expect((await readdir(target)).sort()).toEqual(namesOfPipes);
});

it('makes no pipes in a folder that others may enter, or that was removed', async () => {
  const folder = await temporaryDirectory();
  const { make: makePipes } = createPipeMaker(folder);
  await makePipes(join(folder, 'first'));
  await chmod(folder, 0o777);
  await expect(makePipes(join(folder, 'second'))).rejects.toThrow(`${folder} was removed, or others may enter it`);
  await rm(folder, { recursive: true });
  await expect(makePipes(join(folder, 'third'))).rejects.toThrow(`${folder} was removed, or others may enter it`);
});

it('ends when nothing is being made, and makes nothing afterwards', async () => {
  const folder = await temporaryDirectory();
  const { make, end } = createPipeMaker(folder);
  void make(join(folder, 'first'));
  await expect.poll(() => readdir(folder), { interval: 1 }).toContain('waiting');
  await end();
  expect((await readdir(join(folder, 'first'))).sort()).toEqual(namesOfPipes);
  await rm(folder, { recursive: true });
  await expect(make(join(folder, 'second'))).rejects.toThrow('was removed');
  await expect(stat(folder)).rejects.toThrow('ENOENT');
});
