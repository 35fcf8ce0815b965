/** The setting `login` of a command agent. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/unit/cli/temporary-directory.js';
import type { LocalServiceOptions } from '../../../src/index.js';
import { type ServiceUnderTest, startService } from '../service-under-test.js';

const start = (own: Partial<LocalServiceOptions> = {}) =>
  startService({
    commandAgents: { codex: { command: 'true', login: ['CODEX_KEY', '~/.codex/auth.json'] } },
    scriptedProviders: ['pi'],
    ...own,
  });

async function environmentOf(under: ServiceUnderTest): Promise<string> {
  const { body } = await under.call('GET', '/environments');
  return (body as unknown as { readonly environments: readonly [{ readonly id: string }] }).environments[0].id;
}

const isConfigured = async (under: ServiceUnderTest) =>
  (await under.call('GET', '/provider-models')).body.providers.find(({ provider }) => provider === 'codex')?.configured;

it('refuses prompts of a sandbox that has none of it, and names what it needs', async () => {
  const under = await start();
  const id = await under.ready();
  const { status, body } = await under.prompt(id, 'Hello');
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'provider_not_configured' });
  expect(body.message).toContain('it needs CODEX_KEY or ~/.codex/auth.json');
  expect(body.error.details?.provider).toBe('codex');
  expect(await isConfigured(under)).toBe(false);
  expect((await under.prompt(id, 'Hello', { provider: 'pi' })).status).toBe(202);
});

it('is held with a secret of the account, unless it is empty or the sandbox has no environment', async () => {
  const under = await start();
  const [id, bare] = [await under.ready(), await under.ready({ noEnv: true })];
  await under.call('POST', '/secrets', { body: { set: { CODEX_KEY: 'k' } } });
  expect((await under.prompt(id, 'Hello')).status).toBe(202);
  expect((await under.prompt(bare, 'Hello')).status).toBe(409);
  expect(await isConfigured(under)).toBe(true);
  await under.call('PUT', `/environments/${await environmentOf(under)}`, { body: { envContents: 'CODEX_KEY=' } });
  expect(await isConfigured(under)).toBe(false);
  expect((await under.prompt(await under.ready(), 'Hello')).status).toBe(409);
});

it.each([
  ['a variable of the environment', { envContents: 'CODEX_KEY=k' }],
  ['a secret file', { secretFiles: [{ path: '/home/sandbox/.codex/auth.json', contents: '{}' }] }],
])('is held with %s', async (_what, body) => {
  const under = await start();
  await under.call('PUT', `/environments/${await environmentOf(under)}`, { body });
  expect(await isConfigured(under)).toBe(true);
  expect((await under.prompt(await under.ready(), 'Hello')).status).toBe(202);
});

it('is held if the environment passes the credentials of the agent', async () => {
  const file = join(await temporaryDirectory(), 'key');
  await writeFile(file, 'k\n', { mode: 0o600 });
  const under = await start({ agentCredentials: { codex: { CODEX_KEY: file } } });
  expect(await isConfigured(under)).toBe(true);
  expect((await under.prompt(await under.ready(), 'Hello')).status).toBe(202);
  await under.call('PUT', `/environments/${await environmentOf(under)}`, { body: { passAgentsCredentials: false } });
  expect(await isConfigured(under)).toBe(false);
  expect((await under.prompt(await under.ready(), 'Hello')).status).toBe(409);
});
