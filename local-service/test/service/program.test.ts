/** The program `sandflow-local-service`, as somebody starts it. Tier: all, about 15 s. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { emptyDirectory } from './service-under-test.js';

const program = fileURLToPath(new URL('../../dist/local-service/src/program/main.js', import.meta.url));

interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout(): string;
  stderr(): string;
}

function start(...args: readonly string[]): Running {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (said[name] += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { process: child, ended, stdout: () => said.stdout, stderr: () => said.stderr };
}

test('says when it is ready and where, and ends in order at SIGTERM', async () => {
  const directory = await emptyDirectory();
  const announcement = join(directory, 'announced.json');
  const {
    process: child,
    ended,
    stdout,
  } = start(...['--directory', join(directory, 'state'), '--port', '0', '--announce', announcement, '--ready-json']);
  await expect.poll(stdout).toMatch(/\n$/);
  const { ready, url } = JSON.parse(stdout());
  const announced = JSON.parse(readFileSync(announcement, 'utf8'));
  expect({ ready, announced }).toEqual({
    ready: true,
    announced: { url, apiKeyFile: join(directory, 'state', 'api-key'), pid: child.pid },
  });
  const authorization = `Bearer ${readFileSync(announced.apiKeyFile, 'utf8').trim()}`;
  expect((await fetch(`${url}/me`, { headers: { authorization } })).status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(existsSync(announcement)).toBe(false);
});

test.each([
  ['without a directory', [], 2, 'error: --directory is missing.\n'],
  [
    'with a file of settings that is missing',
    ['--config', '/nowhere/x.json'],
    2,
    'error: --config: /nowhere/x.json cannot',
  ],
  ['with a directory that nobody can create', ['--directory', '/proc/nosuch'], 2, 'error: '],
] as const)('ends %s with a sentence, and with 2', async (_, args, exitCode, message) => {
  const directory = args[0] === '--config' ? ['--directory', await emptyDirectory()] : [];
  const { ended, stderr } = start('--port', '0', ...directory, ...args);
  expect(await ended).toBe(exitCode);
  expect(stderr()).toContain(message);
  expect(stderr()).not.toContain('    at ');
});

test('does as the service of a record, and refuses a record with an unknown deviation', async () => {
  const directory = await emptyDirectory();
  const record = join(directory, 'record.json');
  const args = ['--directory', join(directory, 'state'), '--port', '0', '--assume', record, '--ready-json'];
  writeFileSync(record, JSON.stringify({ deviations: ['A-limits'], settings: {}, findings: [] }));
  const { stdout } = start(...args);
  await expect.poll(stdout).toMatch(/\n$/);
  const authorization = `Bearer ${readFileSync(join(directory, 'state', 'api-key'), 'utf8').trim()}`;
  const answer = await fetch(`${JSON.parse(stdout()).url}/limits`, { headers: { authorization } });
  expect(await answer.json()).toHaveProperty('quota');
  writeFileSync(record, JSON.stringify({ deviations: ['A-nothing'] }));
  const { ended, stderr } = start(...args);
  expect(await ended).toBe(2);
  expect(stderr()).toMatch(/--assume: .*record\.json: deviations\.0: must be A-.*, not "A-nothing"\./);
});

test('ends with one line if a folder of its machines cannot be made', async () => {
  const directory = await emptyDirectory();
  mkdirSync(join(directory, 'machines'));
  writeFileSync(join(directory, 'machines', 'disks'), 'no folder');
  const { ended, stderr } = start('--directory', directory, '--port', '0');
  expect(await ended).toBe(2);
  expect(stderr()).toMatch(/^error: [^\n]*machines\/disks[^\n]*\n$/);
});

test('reads the settings in its directory, and refuses wrong ones by name', async () => {
  const directory = await emptyDirectory();
  writeFileSync(join(directory, 'local-service.json'), '{"isolatoin":"plain"}');
  const { ended, stderr } = start('--directory', directory, '--port', '0');
  expect(await ended).toBe(2);
  expect(stderr()).toContain('isolatoin');
});

test('names a port that is in use', async () => {
  const [one, other] = [await emptyDirectory(), await emptyDirectory()];
  const first = start('--directory', one, '--port', '0', '--ready-json');
  await expect.poll(first.stdout).toMatch(/\n$/);
  const { port } = new URL(JSON.parse(first.stdout()).url);
  const second = start('--directory', other, '--port', port);
  expect(await second.ended).toBe(2);
  expect(second.stderr()).toBe(`error: Port ${port} is already in use. Choose another port, or 0 for any free port.\n`);
});
