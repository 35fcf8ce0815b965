import { expect } from 'vitest';
import { rule } from './rule.js';
import { useTarget } from './target/index.js';

const target = useTarget();

rule(['files.read', 'files.write'], 'text and bytes are returned as they were written', async () => {
  const id = await target.ready();
  const path = `/sandboxes/${id}/files`;
  const text = 'grün\r\nно\u0000end';
  const written = await target.call('PUT', path, { body: { path: 'a/b/text', content: text } });
  expect(written.body).toMatchObject({ type: 'file.written', path: 'a/b/text', size: Buffer.byteLength(text) });
  expect((await target.call('GET', `${path}?path=a/b/text`)).body).toMatchObject({ encoding: 'utf8', content: text });
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]).toString('base64');
  await target.call('PUT', path, { body: { path: 'bytes', content: bytes, encoding: 'base64' } });
  expect((await target.call('GET', `${path}?path=bytes`)).body).toMatchObject({
    encoding: 'base64',
    content: bytes,
    size: 4,
  });
});

rule(['files.read', 'files.write'], 'a file of 32 MiB is accepted, and one byte more is not', async () => {
  const id = await target.ready();
  const path = `/sandboxes/${id}/files`;
  const most = 'x'.repeat(32 * 1024 * 1024);
  expect((await target.call('PUT', path, { body: { path: 'big', content: most } })).status).toBe(200);
  const refused = await target.call('PUT', path, { body: { path: 'bigger', content: `${most}x` } });
  expect(refused).toMatchObject({ status: 413, body: { code: 'too_large' } });
  await target.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'echo >> big' } });
  expect(await target.call('GET', `${path}?path=big`)).toMatchObject({ status: 413, body: { code: 'too_large' } });
});

rule(['files.read', 'errors.not-found'], 'missing files and paths that leave the sandbox are refused', async () => {
  const id = await target.ready();
  const read = (path: string) => target.call('GET', `/sandboxes/${id}/files?path=${encodeURIComponent(path)}`);
  expect(await read('missing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await read('../../../../../../etc/passwd')).status).toBeGreaterThanOrEqual(400);
  expect(await target.call('GET', `/sandboxes/${id}/files`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  });
});

rule('commands.run', 'a command runs in the sandbox and returns its exit code and both outputs', async () => {
  const id = await target.ready();
  const { status, body } = await target.call('POST', `/sandboxes/${id}/commands`, {
    body: { command: 'echo "$WORD"; echo wrong >&2; exit 5', env: { WORD: 'given' } },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    type: 'command.result',
    exitCode: 5,
    stdout: 'given\n',
    stderr: 'wrong\n',
    timedOut: false,
  });
  const slow = await target.call('POST', `/sandboxes/${id}/commands`, {
    body: { command: 'sleep 30', timeoutSeconds: 0.1 },
  });
  expect(slow.body).toMatchObject({ exitCode: null, timedOut: true });
});

rule(['states.only-prompts-run', 'trap.S11'], 'commands do not change the state of their sandbox', async () => {
  const id = await target.ready();
  const running = target.call('POST', `/sandboxes/${id}/commands`, {
    body: { command: 'until test -e go; do sleep 0.02; done' },
  });
  await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'begun', content: '' } });
  expect((await target.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('ready');
  await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
  expect((await running).status).toBe(200);
});
