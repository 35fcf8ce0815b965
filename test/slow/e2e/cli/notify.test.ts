import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

const prompt = '```sh\necho hello\n```';
let cli: CliHome;
beforeAll(() => {
  cli = createCliHome();
});
afterAll(() => cli.close());

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
