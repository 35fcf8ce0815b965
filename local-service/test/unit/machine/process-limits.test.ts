import { expect, it } from 'vitest';
import { lowLimits } from '../../../src/machine/limits/process-limits.js';

const limits = (
  files: string,
  processes: string,
) => `Limit                     Soft Limit           Hard Limit           Units
Max file size             unlimited            unlimited            bytes
Max processes             ${processes.padEnd(20)} 63374                processes
Max open files            ${files.padEnd(20)} 1048576              files
`;
const files = (most: number) => `at most ${most} open files (\`ulimit -n\`): raise it to 1024 or more`;
const processes = (most: number) => `at most ${most} processes of this user (\`ulimit -u\`): raise it to 512 or more`;

it.each<[string, string, boolean, string[]]>([
  ['256', 'unlimited', false, [files(256)]],
  ['1023', '512', false, [files(1023)]],
  ['1024', '511', false, [processes(511)]],
  ['64', '30', false, [files(64), processes(30)]],
  // The kernel does not count the processes of root.
  ['64', '30', true, [files(64)]],
  ['0', '0', false, [files(0), processes(0)]],
  ['unlimited', 'unlimited', false, []],
  ['1048576', '63374', false, []],
])('of %s open files and %s processes, root %s, it names %j', (open, run, isRoot, named) => {
  expect(lowLimits(limits(open, run), isRoot)).toEqual(named);
});

it('names nothing where the system does not show its limits', () => expect(lowLimits('', false)).toEqual([]));
