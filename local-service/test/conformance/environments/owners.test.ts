import { expect } from 'vitest';
import { rule } from '../rule.js';
import { startPeople } from '../target/index.js';

const settings = { needs: ['local'] } as const;

rule(
  'environments.list',
  'each account has its own environments, secrets and repositories, and cannot reach those of another',
  async () => {
    const {
      local: { service },
      ann,
      ben,
    } = await startPeople();
    const { id } = service.setup.createEnvironment({ name: 'mine' }, ann.accountId);
    service.setup.setRepos([{ id: 1, fullName: 'ann/code', pushedAt: '2026-01-01T00:00:00Z' }], ann.accountId);
    await ann.call('POST', '/secrets', { body: { set: { ANNS: 'hunter2' } } });
    const names = async (person: typeof ann) =>
      (await person.call('GET', '/environments')).body.environments.map(({ name }) => name);
    expect(await names(ann)).toEqual(['Default', 'mine']);
    expect(await names(ben)).toEqual(['Default']);
    expect((await ben.call('GET', '/secrets')).body.secrets).toEqual([]);
    expect((await ben.call('GET', '/repos')).body.repos).toEqual([]);
    expect((await ben.call('PUT', `/environments/${id}`, { body: { name: 'taken' } })).status).toBe(404);
    expect((await ben.call('POST', `/environments/${id}/upgrade`)).status).toBe(404);
    expect((await ben.call('POST', '/sandboxes', { body: { environment: 'mine' } })).status).toBe(404);
    // The same name in two accounts is no conflict.
    expect(service.setup.createEnvironment({ name: 'mine' }, ben.accountId)).toMatchObject({ name: 'mine' });
    const sandbox = await ben.ready();
    const { body } = await ben.call('POST', `/sandboxes/${sandbox}/commands`, { body: { command: 'echo "[$ANNS]"' } });
    expect(body.stdout).toBe('[]\n');
  },
  settings,
);

rule(
  'environments.upgrade-all',
  'an upgrade reaches only the caller’s sandboxes, even if a teammate’s is named',
  async () => {
    const {
      local: { service },
      ann,
      ben,
    } = await startPeople();
    const id = String(service.setup.createEnvironment({ name: 'anns' }, ann.accountId).id);
    const anns = await ann.ready({ environment: 'anns' });
    const bens = await ben.ready({ noEnv: true });
    await ann.call('PUT', `/environments/${id}`, { body: { envContents: 'A=1' } });
    const { body } = await ann.call('POST', `/environments/${id}/upgrade`, { body: { agentIds: [anns, bens] } });
    expect(body).toMatchObject({ upgraded: 1, failed: 1 });
    expect((await ben.call('GET', `/sandboxes/${bens}`)).body.sandbox.environmentVersion).toBeNull();
  },
  settings,
);

rule(
  ['sandbox.wipe-at-start', 'access.share-after-restart'],
  'a shared and restarted sandbox has no secrets and secret files, and an upgrade restores none',
  async () => {
    const {
      local: { service },
      ann,
    } = await startPeople();
    const content = { passSecrets: true, envContents: 'PLAIN=stays', secretFiles: [{ path: 'token', contents: 't' }] };
    const id = String(service.setup.createEnvironment({ name: 'logins', ...content }, ann.accountId).id);
    await ann.call('POST', '/secrets', { body: { set: { ANNS: 'hunter2' } } });
    const sandbox = await ann.ready({ environment: 'logins' });
    const look = async () => {
      const command = 'echo "$PLAIN [$ANNS]" $(ls)';
      return (await ann.call('POST', `/sandboxes/${sandbox}/commands`, { body: { command } })).body.stdout;
    };
    expect(await look()).toBe('stays [hunter2] token\n');
    await ann.call('POST', `/sandboxes/${sandbox}/share`);
    await ann.archive(sandbox);
    await ann.call('POST', `/sandboxes/${sandbox}/resume`, { body: {} });
    await ann.reach(sandbox, 'ready');
    expect(await look()).toBe('stays []\n');
    await ann.call('PUT', `/environments/${id}`, { body: { envContents: 'PLAIN=changed' } });
    expect((await ann.call('POST', `/environments/${id}/upgrade`)).body.upgraded).toBe(1);
    expect(await look()).toBe('changed []\n');
    expect((await ann.call('GET', `/sandboxes/${sandbox}`)).body.sandbox.holdsCreatorLogins).toBe(false);
  },
  settings,
);

rule(
  ['scope.environment-set', 'scope.sandbox-forbidden'],
  'a key limited to an environment reaches only that one',
  async () => {
    const {
      local: { service },
      ann,
    } = await startPeople();
    const [mine, other] = ['mine', 'other'].map((name) =>
      String(service.setup.createEnvironment({ name }, ann.accountId).id),
    );
    const made = await ann.call('POST', '/api-keys/scoped', {
      key: ann.session,
      body: { name: 'k', actions: ['environment.read', 'environment.write', 'sandbox.create'], environments: [mine] },
    });
    const key = made.body.secret;
    const call = (method: string, path: string, body?: unknown) => ann.call(method, path, { key, body });
    const { environments } = (await call('GET', '/environments')).body;
    expect(environments.map(({ id }) => id)).toEqual([mine]);
    expect((await call('PUT', `/environments/${mine}`, { envContents: 'A=1' })).status).toBe(200);
    const refused = { status: 403, body: { code: 'api_key_sandbox_forbidden' } };
    expect(await call('PUT', `/environments/${other}`, { envContents: 'A=1' })).toMatchObject(refused);
    expect(await call('POST', `/environments/${other}/upgrade`)).toMatchObject(refused);
    expect((await call('POST', '/sandboxes', { environment: 'mine' })).status).toBe(202);
    for (const body of [{ environment: 'other' }, {}, { noEnv: true }]) {
      expect(await call('POST', '/sandboxes', body)).toMatchObject(refused);
    }
  },
  settings,
);
