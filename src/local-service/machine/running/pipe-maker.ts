/** Makes the named pipes of the next commands, before the commands need them. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { runProgram } from '../program.js';
import { pipeNames } from './shell-pipes.js';

/** Making pipes takes a process, which is a tenth of the start of a sandbox. So they are made for many commands. */
const madeAtOnce = 16;
/** When so few are left, the next are made. */
const fewLeft = 4;

/** Moves the pipes of one command to `folder`, which must not exist. */
export type PipeMaker = (folder: string) => Promise<void>;

/**
 * @param store where pipes wait until a command needs them; on the file system of the folders that get them
 * @param run starts `mkfifo`
 * @returns a function that throws MachineError `isolation_unavailable`
 */
export function createPipeMaker(store: string, run = runProgram): PipeMaker {
  let [lastTaken, lastMade] = [0, 0];
  const making = new Map<number, Promise<void>>();
  const folderOf = (number: number): string => join(store, String(number));

  const make = async (numbers: readonly number[]): Promise<void> => {
    const folders = numbers.map(folderOf);
    await Promise.all(folders.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
    const files = folders.flatMap((folder) => pipeNames.map((name) => join(folder, name)));
    const { exitCode, stderr: problem } = await run('mkfifo', ['-m', '600', ...files]);
    if (exitCode === 0) return;
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    throw new MachineError('isolation_unavailable', `The pipes of the command could not be made: ${problem.trim()}`);
  };
  const makeMore = (): void => {
    const numbers = Array.from({ length: madeAtOnce }, (_, index) => lastMade + index + 1);
    lastMade += madeAtOnce;
    const made = make(numbers);
    for (const number of numbers) making.set(number, made);
    // Those who wait for these pipes learn of the failure. Later commands get others.
    made.catch(() => {
      for (const number of numbers) making.delete(number);
      lastTaken = Math.max(lastTaken, ...numbers);
    });
  };

  return async (folder) => {
    lastTaken += 1;
    const number = lastTaken;
    if (lastMade < number + fewLeft) makeMore();
    const made = making.get(number);
    making.delete(number);
    await made;
    await rename(folderOf(number), folder);
  };
}
