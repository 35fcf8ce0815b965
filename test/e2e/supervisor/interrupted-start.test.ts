/** A start that Ctrl-C interrupts while it downloads a Temporal server. Costs three CPU seconds. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../cli/program.js';

let cli: CliHome;
let env: Readonly<Record<string, string>>;
const pidFile = () => join(cli.home, 'pip.pid');

beforeEach(() => {
  cli = createCliHome();
  const programs = join(cli.home, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'temporal'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  // A pip that never ends.
  const pip = `echo $$ > "${pidFile()}.part"; mv "${pidFile()}.part" "${pidFile()}"; exec sleep 600`;
  writeFileSync(join(programs, 'python3'), `#!/bin/sh\n${pip}\n`, { mode: 0o755 });
  env = {
    PATH: `${programs}:${process.env.PATH}`,
    SANDFLOW_CACHE: join(cli.home, 'cache'),
    // Nothing listens there, so the archive is not downloaded.
    HTTPS_PROXY: 'http://127.0.0.1:9',
  };
});
afterEach(() => cli.close());

it('ends with the command, and so does the download', async () => {
  const run = cli.start(['run', 'Say hello'], env);
  await expect.poll(() => existsSync(pidFile()), { message: cli.said() }).toBe(true);
  expect(cli.alive()).not.toEqual([]);
  run.process.kill('SIGINT');
  expect(await run.ended).toMatchObject({
    exitCode: 130,
    stderr: expect.stringMatching(/error: Interrupted\. This command has started no job\.\n$/),
  });
  await expect.poll(() => cli.alive()).toEqual([]);
  expect(() => process.kill(Number(readFileSync(pidFile(), 'utf8')), 0)).toThrow('ESRCH');
});

it('goes on while another command waits for it', async () => {
  const first = cli.start(['run', 'Say hello'], env);
  await expect.poll(() => existsSync(pidFile())).toBe(true);
  const second = cli.start(['up'], env);
  await expect.poll(second.stderr).toContain('with pip');
  first.process.kill('SIGINT');
  await first.ended;
  expect((await cli.run(['status', '--json'], env)).stdout).toContain('"starting"');
  second.process.kill('SIGINT');
  await second.ended;
});
