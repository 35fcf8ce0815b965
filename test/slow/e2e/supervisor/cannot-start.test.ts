/** A stack of which one part cannot start says why, and leaves none of the parts that had started. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

let cli: CliHome;
beforeEach(() => {
  cli = createCliHome();
});
afterEach(() => cli.close());

it.each([
  [['up'], { SANDFLOW_RESULTS: '/dev/null/results' }, 'The result store /dev/null/results cannot be written by user'],
  [
    ['up', '--foreground'],
    { SANDFLOW_RESULTS: '/dev/null/results' },
    'The result store /dev/null/results cannot be written by user',
  ],
  [
    ['up'],
    { SANDFLOW_ENCRYPTION_KEYS_FILE: '/no/such/keys' },
    '/no/such/keys, the file of encryption keys, does not exist',
  ],
] as const)('sandflow %j with %j', async (args, env, why) => {
  const { exitCode, stderr } = await cli.run([...args], env);
  expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining(why) });
  await expect.poll(() => cli.alive()).toEqual([]);
});
