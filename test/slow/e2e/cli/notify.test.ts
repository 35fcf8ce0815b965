import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

const prompt = '```sh\necho hello\n```';
let cli: CliHome;
beforeAll(() => {
  cli = createCliHome();
});
afterAll(() => cli.close());

it('the embedded stack runs the command of --notify, whose text is in a file of the home and not in Temporal', async () => {
  const told = join(cli.home, 'told.json');
  const command = `command:cat > ${told}.part && mv ${told}.part ${told} # canary-of-the-command`;
  const run = () => cli.run(['run', prompt, '--id', 'told', '--notify', command, '--json']);
  const { exitCode, stdout } = await run();
  expect(exitCode).toBe(0);
  await expect.poll(() => existsSync(told), { timeout: 60_000 }).toBe(true);
  const { jobId, outcome, sandboxId } = JSON.parse(stdout);
  expect(JSON.parse(await readFile(told, 'utf8'))).toMatchObject({ event: 'ended', jobId, outcome, sandboxId });
  // The same command results in the same input.
  const again = await run();
  expect(again.stderr).toContain('Job told already finished; showing its result.');
  expect(again.stderr).not.toContain('different prompts or options');
  const kept = join(cli.home, 'notify-commands.json');
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  expect(await readFile(kept, 'utf8')).toContain('canary-of-the-command');
  for (const name of await readdir(cli.home)) {
    if (!name.startsWith('temporal.db')) continue;
    expect((await readFile(join(cli.home, name))).includes('canary-of-the-command'), name).toBe(false);
  }
});

it('an undeliverable notification delays no answer of the command line, which warns of it at the end', async () => {
  const begin = Date.now();
  const plain = await cli.run(['run', prompt, '--json', '--quiet']);
  const plainMs = Date.now() - begin;
  const target = 'http://127.0.0.1:1/secret-path';
  const { exitCode, stderr } = await cli.run(['run', prompt, '--id', 'dead', '--notify', target, '--json', '--quiet']);
  expect([plain.exitCode, exitCode]).toEqual([0, 0]);
  expect(stderr).toMatch(/The notification to http:\/\/127\.0\.0\.1:1 is not delivered.*repeated for a day/);
  expect(stderr).not.toContain('secret-path');
  expect((await cli.run(['jobs', 'list', '--open'])).stdout, 'the list and show agree').not.toContain('dead');
  expect((await cli.run(['jobs', 'show', 'dead', '--json'])).stdout).toContain('"outcome":"completed"');
  // Without a limit it takes two and a half minutes.
  expect(Date.now() - begin - plainMs).toBeLessThan(60_000 + 5 * plainMs);
});
