import { expect } from 'vitest';
import { rule } from './rule.js';
import { untar } from './sandboxes/archives.js';
import { startLocalTarget, type Target, useTarget } from './target/index.js';

const target = useTarget();

const artifact = (on: Target, id: string, path: string) =>
  on.call('GET', `/sandboxes/${id}/artifacts?path=${encodeURIComponent(path)}`);
const run = (on: Target, id: string, command: string) =>
  on.call('POST', `/sandboxes/${id}/commands`, { body: { command } });

rule('files.artifact', 'a download returns a file byte by byte, with its length', async () => {
  const id = await target.ready();
  await run(target, id, 'printf "\\000\\377 bytes" > raw.bin; : > empty');
  const { status, headers, bytes } = await artifact(target, id, 'raw.bin');
  expect(status).toBe(200);
  expect(bytes).toEqual(Buffer.from([0, 255, ...Buffer.from(' bytes')]));
  expect(headers.get('content-length')).toBe('8');
  expect(headers.get('content-type')).toBe('application/octet-stream');
  const empty = await artifact(target, id, 'empty');
  expect([empty.status, empty.bytes.length, empty.headers.get('content-length')]).toEqual([200, 0, '0']);
});

rule('files.artifact', 'a download returns a folder as tar.gz, even while its sandbox works', async () => {
  const id = await target.ready();
  await run(target, id, 'mkdir -p out/deep; echo one > out/one.txt; echo two > out/deep/two.txt');
  const { body } = await target.prompt(id, '```sh\nuntil test -e go; do sleep 0.02; done\n```');
  const { headers, bytes } = await artifact(target, id, 'out');
  expect(headers.get('content-type')).toBe('application/gzip');
  expect(await untar(bytes)).toEqual({ 'one.txt': 'one\n', 'deep/two.txt': 'two\n' });
  await run(target, id, 'touch go');
  await target.promptEnd(id, body.promptId);
});

rule(
  ['files.artifact', 'errors.not-found'],
  'a path that does not exist or leads out of the sandbox is refused',
  async () => {
    const id = await target.ready();
    await run(target, id, 'ln -s /etc/passwd link; ln -s ../../.. up; mkfifo pipe');
    expect(await artifact(target, id, 'none')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    for (const path of ['../..', '/etc/passwd', 'link', 'up/other', 'a\0b']) {
      const { status } = await artifact(target, id, path);
      expect([400, 403, 404], path).toContain(status);
    }
    expect(await artifact(target, id, 'pipe')).toMatchObject({ status: 400 });
    expect(await target.call('GET', `/sandboxes/${id}/artifacts`)).toMatchObject({ status: 400 });
  },
);

rule(
  ['files.artifact', 'errors.machine-not-running'],
  'a sandbox without a running machine has no artifacts',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    await run(local, id, 'echo here > file');
    await local.archive(id);
    const refused = { status: 400, body: { code: 'machine_not_running' } };
    expect(await artifact(local, id, 'file')).toMatchObject(refused);
  },
);
