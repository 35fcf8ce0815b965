/** Makes the named pipes of the next commands, before the commands need them. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MachineError } from '../machine-error.js';
import { runProgram } from '../program.js';
import { isPrivateFolder } from './pipes-folder.js';
import { pipeNames } from './shell-pipes.js';

/** Making pipes takes a process, which is a tenth of the start of a sandbox. So they are made for many commands. */
const madeAtOnce = 16;
/** When so few are left, the next are made. */
const fewLeft = 4;

export interface PipeMaker {
  /**
   * Moves the pipes of one command to `folder`, which must not exist.
   * @throws MachineError `isolation_unavailable`, or the error of the file system
   */
  make(folder: string): Promise<void>;
  /** Makes no more. Returns when nothing is being made, so that what was made can be removed. */
  end(): Promise<void>;
}

/**
 * @param base a folder that only this user may enter, on the file system of the folders that get the pipes. In it, pipes
 *   wait until a command needs them
 * @param run starts `mkfifo`
 */
export function createPipeMaker(base: string, run = runProgram): PipeMaker {
  const store = join(base, 'waiting');
  let [lastTaken, lastMade] = [0, 0];
  const making = new Map<number, Promise<void>>();
  const underWay = new Set<Promise<void>>();
  let hasEnded = false;
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
  const track = (work: Promise<void>): Promise<void> => {
    underWay.add(work);
    const forget = (): void => void underWay.delete(work);
    work.then(forget, forget);
    return work;
  };
  const makeMore = (): void => {
    const numbers = Array.from({ length: madeAtOnce }, (_, index) => lastMade + index + 1);
    lastMade += madeAtOnce;
    const made = track(make(numbers));
    for (const number of numbers) making.set(number, made);
    // Those who wait for these pipes learn of the failure. Later commands get others.
    made.catch(() => {
      for (const number of numbers) making.delete(number);
      lastTaken = Math.max(lastTaken, ...numbers);
    });
  };

  const take = async (folder: string): Promise<void> => {
    // Some machines clear /dev/shm when their user logs out. Then anybody may make a folder of this name.
    if (!(await isPrivateFolder(base)) || hasEnded) {
      throw new MachineError(
        'isolation_unavailable',
        `${base} was removed, or others may enter it. Restart the service.`,
      );
    }
    lastTaken += 1;
    const number = lastTaken;
    if (lastMade < number + fewLeft) makeMore();
    const made = making.get(number);
    making.delete(number);
    await made;
    await rename(folderOf(number), folder);
  };
  return {
    make: (folder) => track(take(folder)),
    async end() {
      hasEnded = true;
      await Promise.allSettled(underWay);
    },
  };
}
