import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { planRequest } from '../../../../src/cli/api/plan-request.js';
import { runCli } from '../../../../src/cli/run-cli.js';
import { readConfig } from '../../../../src/config.js';
import { type Answer, aSandbox, createClosing, errorBody, sendJson, startStand } from '../../client/http-harness.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const closing = createClosing();
afterEach(closing.closeAll);

const serving = async (answer: Answer) => {
  const stand = closing.keep(await startStand(answer));
  const env = { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key_secret' };
  return { stand, env };
};
const ok: Answer = (_, response) => sendJson(response, 200, { ok: true, sandbox: aSandbox });
const id = 'bx_23456789';

describe('sandflow api', () => {
  it.each(['/sandboxes/bx_23456789', 'sandboxes/bx_23456789', '/sandboxes/bx_23456789/'])(
    'calls %s with the key and prints formatted JSON',
    async (path) => {
      const { stand, env } = await serving(ok);
      const { exitCode, stdout, stderr } = await cli(['api', 'get', path], { env });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toBe(`${JSON.stringify({ ok: true, sandbox: aSandbox }, null, 2)}\n`);
      expect(stand.seen).toMatchObject([{ method: 'GET', url: `/v1/sandboxes/${id}`, body: '' }]);
      expect(stand.seen[0]?.headers).toMatchObject({ authorization: 'Bearer key_secret' });
    },
  );

  it('sends fields as JSON, and a query', async () => {
    const { stand, env } = await serving(ok);
    const fields = ['name=my box', 'ttlSeconds=60', 'snapshots=false', 'type="large"', 'environment=a=b'];
    const args = [
      'api',
      'POST',
      '/sandboxes?x=1',
      '--query',
      'y=a b',
      '--query',
      '__proto__=z',
      ...fields.flatMap((one) => ['--field', one]),
    ];
    expect((await cli(args, { env })).exitCode).toBe(0);
    expect(stand.seen[0]?.url).toBe('/v1/sandboxes?x=1&y=a+b&__proto__=z');
    expect(JSON.parse(stand.seen[0]?.body ?? '')).toEqual({
      name: 'my box',
      ttlSeconds: 60,
      snapshots: false,
      type: 'large',
      environment: 'a=b',
    });
  });

  it('sends a number that would lose a digit as text', async () => {
    const { stand, env } = await serving(ok);
    const typed = ['name=12e45678', 'ticket=1234567890123456789', 'version=1.10', 'count=-1.5', 'off=null'];
    const args = typed.flatMap((one) => ['--field', one]);
    expect((await cli(['api', 'POST', '/sandboxes', ...args], { env })).exitCode).toBe(0);
    expect(JSON.parse(stand.seen[0]?.body ?? '')).toEqual({
      name: '12e45678',
      ticket: '1234567890123456789',
      version: '1.10',
      count: -1.5,
      off: null,
    });
  });

  const bodyOf = async (field: readonly string[]) => {
    const io = { stdin: (async function* () {})(), cwd: '.' };
    const options = { field, query: [], body: undefined, confirm: undefined };
    return (await planRequest('POST', '/sandboxes', options, io)).body;
  };

  it('sends a scalar with a blank beside it as text', async () => {
    expect(await bodyOf(['h= true'])).toBe('{"h":" true"}');
  });

  it('so too after it, and for null and quotes, but not for a list or an object', async () => {
    expect(await bodyOf(['a=null ', 'b=\tfalse\n', 'c= "x"', 'd= 7'])).toBe(
      String.raw`{"a":"null ","b":"\tfalse\n","c":" \"x\"","d":" 7"}`,
    );
    expect(JSON.parse((await bodyOf(['list=\n[1]\n', 'object= { "a": true }'])) ?? '')).toEqual({
      list: [1],
      object: { a: true },
    });
  });

  it('sends JSON as it is written, and the text of a file', async () => {
    const { stand, env } = await serving(ok);
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'name.txt'), '12');
    const args = ['-F', 'ids=[9007199254740993, 1.0]', '-F', 'name=@name.txt', '-F', '__proto__=a'];
    expect((await cli(['api', 'POST', '/sandboxes', ...args], { env, cwd })).exitCode).toBe(0);
    expect(stand.seen[0]?.body).toBe('{"ids":[9007199254740993, 1.0],"name":"12","__proto__":"a"}');
  });

  it('prints the digits of an answer, and of a refusal, as they came', async () => {
    const texts = ['{"ok":true,"id":1234567890123456789,"cost":[0.10,12e45678]}', '{"code":"x","at":9007199254740993}'];
    for (const [index, text] of texts.entries()) {
      const { env } = await serving((_, response) =>
        response.writeHead(index === 0 ? 200 : 400, { 'content-type': 'application/json' }).end(text),
      );
      const { exitCode, stdout } = await cli(['api', 'GET', '/me'], { env });
      expect({ exitCode, text: stdout.replaceAll(/\s/g, '') }).toEqual({ exitCode: index, text });
    }
  });

  it('reads the body from a file or from stdin unchanged', async () => {
    const { stand, env } = await serving(ok);
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'body.json'), '{ "b": 1, "a": 2 }');
    await cli(['api', 'POST', '/sandboxes', '--body', 'body.json'], { env, cwd });
    await cli(['api', 'POST', '/sandboxes', '--body', '-'], { env, stdin: '{"c":3}' });
    await cli(['api', 'POST', '/sandboxes', '--body', '-'], { env, stdin: '\uFEFF{"d":4}' });
    expect(stand.seen.map(({ body }) => body)).toEqual(['{ "b": 1, "a": 2 }', '{"c":3}', '{"d":4}']);
    expect(stand.seen[0]?.headers['content-type']).toBe('application/json');
  });

  it('exits with 1 if the service refuses: the answer on stdout, one line on stderr', async () => {
    const body = errorBody(409, 'sandbox_not_promptable', 'It is archived.');
    const { env } = await serving((_, response) => sendJson(response, 409, body));
    const { exitCode, stdout, stderr } = await cli(['api', 'POST', `/sandboxes/${id}/stop`], { env });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toEqual(body);
    expect(stderr).toBe('error: It is archived. (409 sandbox_not_promptable, req_1)\n');
  });

  it('prints a proxy’s answer unchanged and does not follow a redirect', async () => {
    const { stand, env } = await serving((_, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:9/x' }).end('<html>'),
    );
    expect(await cli(['api', 'GET', '/me'], { env })).toMatchObject({ exitCode: 1, stdout: '<html>\n' });
    expect(stand.seen).toHaveLength(1);
  });

  it('exits with 3 if there is no service', async () => {
    const env = { SANDBOX_API_URL: 'http://127.0.0.1:9/v1', SANDBOX_API_KEY: 'key_secret' };
    const { exitCode, stderr } = await cli(['api', 'GET', '/me'], { env });
    expect({ exitCode, key: stderr.includes('key_secret') }).toEqual({ exitCode: 3, key: false });
  });

  it('deletes only if the id is repeated', async () => {
    const { stand, env } = await serving((_, response) => sendJson(response, 202, { ok: true }));
    const none = await cli(['api', 'DELETE', `/sandboxes/${id}`], { env });
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`--confirm ${id}`) });
    const other = await cli(['api', 'DELETE', `/sandboxes/${id}`, '--confirm', 'bx_99999999'], { env });
    expect(other).toMatchObject({ exitCode: 2, stdout: '' });
    expect(stand.seen).toEqual([]);
    expect((await cli(['api', 'delete', `/sandboxes/${id}`, '--confirm', id], { env })).exitCode).toBe(0);
    expect(stand.seen).toMatchObject([{ method: 'DELETE', headers: { 'x-svc-confirm-delete': id } }]);
  });

  it.each([
    [['api', 'GET', 'https://elsewhere.example/me'], 'is not a path'],
    [['api', 'GET', '//elsewhere.example/me'], 'is not a path'],
    [['api', 'FETCH', '/me'], '"FETCH" is not an HTTP method'],
    [['api', 'GET', '/sandboxes/../me'], 'a path segment must not be empty'],
    [['api', 'GET', '/sandboxes/%2e%2e/me'], 'a path segment must not be empty'],
    [['api', 'GET', '/sandboxes//usage'], 'a path segment must not be empty'],
    [['api', 'GET', '/sandboxes/{sandboxId}'], 'replace {sandboxId} with an id'],
    [['api', 'GET', '/a b'], 'escape spaces'],
    [['api', 'GET', '/me', '--field', 'a=1'], 'GET takes no body'],
    [['api', 'GET', '/me', '--query', 'a=1', '--query', 'a=2'], '--query: a occurs twice'],
    [['api', 'GET', '/me?a=1', '--query', 'a=2'], '--query: a occurs twice'],
    [['api', 'POST', '/me', '--field', 'a=1', '--field', 'a=2'], '--field: a occurs twice'],
    [['api', 'POST', '/me', '--field', 'a=@none'], '--field: the file none cannot be read'],
    [['api', 'POST', '/me', '--field', 'a'], '--field: "a" is not KEY=VALUE'],
    [['api', 'POST', '/me', '--field', 'a=1', '--body', '-'], 'not both'],
    [['api', 'POST', '/me', '--body', 'missing.json'], '--body: missing.json cannot be read'],
    [['api', 'POST', '/me', '--body', '-'], '--body: stdin is not valid JSON'],
    [['api', 'POST', '/me', '--confirm', 'x'], '--confirm requires DELETE'],
    [['api', 'GET', '/me', '--timeout', 'soon'], '--timeout: "soon" is not a duration'],
  ])('%j exits with 2 before it reads the settings', async (args, message) => {
    const unread = () => Promise.reject(new Error('the settings were read'));
    const { exitCode, stdout, stderr } = await cli(args, { readConfig: unread });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('a file as the answer', () => {
  const bytes: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('bytes');
  };

  it('goes to stdout unchanged', async () => {
    const { env } = await serving(bytes);
    const path = `/sandboxes/${id}/artifacts`;
    expect(await cli(['api', 'GET', path, '--query', 'path=a'], { env })).toMatchObject({
      exitCode: 0,
      stdout: 'bytes',
    });
  });

  it.each([`/sandboxes/${id}/artifacts`, '/unknown'])('of %s is refused on a terminal', async (path) => {
    const { env } = await serving(bytes);
    let stdout = '';
    let stderr = '';
    const exitCode = await runCli(['api', 'GET', path], {
      stdin: (async function* () {})(),
      stdout: { write: (text) => (stdout += text), isTTY: true },
      stderr: { write: (text) => (stderr += text) },
      main: { command: process.execPath, args: [] },
      cwd: '/',
      readConfig: async () => readConfig({ SANDFLOW_HOME: await temporaryDirectory(), ...env }),
      interrupted: new AbortController().signal,
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('Redirect stdout');
  });
});
