/** A service that may open few files. Costs ten CPU seconds. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryDirectory, usableIsolations } from './machine-fixture.js';

const child = fileURLToPath(new URL('few-descriptors-child.mjs', import.meta.url));

interface Outcome {
  readonly works?: string;
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
}
interface Seen {
  readonly lacks: readonly string[];
  readonly results: readonly { readonly free: number; readonly command: Outcome; readonly again: Outcome }[];
}

/** @param start shell text before the service starts */
async function seenBy(start: string, args: readonly string[]): Promise<Seen> {
  const call = ['-c', `${start}; exec "$@"`, 'sh', process.execPath, child, await temporaryDirectory(), ...args];
  const { stdout } = await promisify(execFile)('/bin/bash', call, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout) as Seen;
}

const closeInherited = 'for fd in $(ls /proc/self/fd); do [ "$fd" -le 2 ] || eval "exec $fd>&-"; done';
const works = { works: 'works\n' };

it.each(usableIsolations)(
  'names the limit for each number of free descriptors, and works afterwards: %s',
  async (isolation) => {
    const { lacks, results } = await seenBy(`${closeInherited}; ulimit -n 200`, [isolation, '36']);
    expect(lacks).toContain('at most 200 open files (`ulimit -n`): raise it to 1024 or more');
    for (const { free, command, again } of results) {
      if (command.works === undefined)
        expect({ free, ...command }).toMatchObject({
          name: 'MachineError',
          message: expect.stringContaining('`ulimit -n`'),
        });
      expect({ free, again }).toEqual({ free, again: works });
    }
    expect(results[0]?.command.works).toBeUndefined();
    expect(results.at(-1)?.command).toEqual(works);
  },
);

it.each(usableIsolations)(
  'names an inherited descriptor above the limit, or starts shells without it: %s',
  async (isolation) => {
    const { results } = await seenBy(`${closeInherited}; exec 230</; ulimit -n 200`, [isolation, '100', '100']);
    const { command } = results[0] ?? {};
    expect(command?.message).toContain('descriptor 230, above its limit of open files: raise it (`ulimit -n`)');
  },
);
