/** A program that is aborted is reported once it has ended. Unit tier: under a second. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../../../test/unit/cli/temporary-directory.js';
import { runProgram } from '../../../src/machine/program.js';

it('waits for the end of a program that is aborted', async () => {
  const file = join(await temporaryDirectory(), 'pid');
  const abort = new AbortController();
  const script = `echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 1000`;
  const ended = runProgram('sh', ['-c', script], { signal: abort.signal });
  const pid = Number(await vi.waitFor(() => readFile(file, 'utf8'), { timeout: 120_000, interval: 5 }));
  expect(process.kill(pid, 0)).toBe(true);
  abort.abort();
  expect((await ended).exitCode).toBeNull();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
