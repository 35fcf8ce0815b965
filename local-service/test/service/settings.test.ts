/** What `local-service.json` changes, seen through the command line. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensureKeyFile } from '../../../src/os/private-file.js';
import { type CliOutcome, cli } from '../../../test/unit/cli/in-process.js';
import { emptyDirectory } from './service-under-test.js';

interface Served {
  /** Runs `sandflow api` against the service. */
  api(method: string, path: string, fields?: readonly string[]): Promise<CliOutcome>;
  seed(document: unknown): Promise<void>;
}

/** Runs `sandflow local` with these settings until the test ends. */
async function serve(settings: unknown): Promise<Served> {
  const cwd = await emptyDirectory();
  await writeFile(join(cwd, 'settings.json'), JSON.stringify(settings));
  const keyFile = join(cwd, 'api-key');
  await ensureKeyFile(keyFile);
  const end = new AbortController();
  let url = '';
  const served = cli(
    ['local', '--port', '0', '--directory', 'state', '--api-key-file', keyFile, '--config', 'settings.json'],
    {
      cwd,
      interrupted: end.signal,
      onStderr: (text) => {
        url = /runs at (\S+?)\. /.exec(text)?.[1] ?? '';
      },
    },
  );
  onTestFinished(async () => {
    end.abort('SIGTERM');
    await served;
  });
  await expect.poll(() => url).not.toBe('');
  const env = { SANDBOX_API_URL: url, SANDBOX_API_KEY_FILE: keyFile, SANDFLOW_PATIENCE_SECONDS: '0.01' };
  return {
    api: (method, path, fields = []) =>
      cli(['api', method, path, ...fields.flatMap((field) => ['--field', field])], { cwd, env }),
    async seed(document) {
      await writeFile(join(cwd, 'seed.json'), JSON.stringify(document));
      expect(await cli(['local', 'seed', 'seed.json'], { cwd, env })).toMatchObject({ exitCode: 0 });
    },
  };
}

test('requestsPerMinute makes the service throttle', async () => {
  const { api } = await serve({ isolation: 'plain', limits: { requestsPerMinute: 3 } });
  await expect.poll(async () => (await api('GET', '/me')).stderr).toContain('More than 3 requests in one minute.');
});

test('activeSandboxesPerMember refuses the sandbox that is too many of a member', async () => {
  const { api, seed } = await serve({ isolation: 'plain', limits: { activeSandboxesPerMember: 1 } });
  await seed({ version: 1, teams: [{ name: 'Acme', members: ['local'] }] });
  expect(await api('POST', '/sandboxes', ['name=one'])).toMatchObject({ exitCode: 0 });
  const refused = await api('POST', '/sandboxes', ['name=two']);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toContain('Your limit of 1 active sandboxes in this organization is reached.');
});

test('models and scriptedProviders refuse a model that is not listed, and a provider without a login', async () => {
  const { api } = await serve({
    isolation: 'plain',
    scriptedProviders: ['pi'],
    models: { pi: [{ model: 'small' }] },
  });
  const made = JSON.parse((await api('POST', '/sandboxes', ['name=one'])).stdout).sandbox.id;
  await expect
    .poll(async () => JSON.parse((await api('GET', `/sandboxes/${made}`)).stdout).sandbox.state)
    .toBe('ready');
  const send = (...fields: readonly string[]) => api('POST', `/sandboxes/${made}/prompt`, ['prompt=hello', ...fields]);
  expect((await send('provider=pi', 'model=large')).stderr).toContain('has no model large. It has small.');
  expect((await send('provider=codex')).stderr).toContain('The provider codex is not configured.');
  expect((await send('provider=pi', 'model=small')).exitCode).toBe(0);
});
