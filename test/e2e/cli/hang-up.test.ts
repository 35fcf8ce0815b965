/** A terminal that closes, or a connection that is lost. Gate; costs two CPU seconds. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandflow-hang-up-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A batch that waits for its items, and keeps those that it has read in a file. */
async function startedBy(script: string) {
  const env = { PATH: process.env.PATH, TMPDIR: folder, SANDFLOW_HOME: join(folder, 'home') };
  const args = ['-c', script, 'sh', process.execPath, main, 'fanout', '-', '--dry-run'];
  const child = spawn('/bin/sh', args, { cwd: folder, env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  const kept = () => readdirSync(folder).filter((name) => name.startsWith('sandflow-items-'));
  await expect.poll(kept).toHaveLength(1);
  return { child, ended, kept };
}

it('ends a command as Ctrl-C does, and leaves no items behind', async () => {
  const { child, ended, kept } = await startedBy('exec "$@"');
  child.kill('SIGHUP');
  expect(await ended).toBe(130);
  expect(kept()).toEqual([]);
});

it.each([
  ['in a script that ignores it', `trap '' HUP; trap : INT; "$@"; exit $?`],
  ['under nohup', 'export _=/usr/bin/nohup; exec nohup "$@"'],
])('ends no command %s', async (_, script) => {
  const { child, ended, kept } = await startedBy(script);
  const group = -(child.pid ?? 0);
  process.kill(group, 'SIGHUP');
  // The signals of one sender arrive in their order: the first has not ended it.
  process.kill(group, 'SIGINT');
  expect(await ended).toBe(130);
  expect(kept()).toEqual([]);
});
