import { expect } from 'vitest';
import { rule } from '../rule.js';
import { useTarget } from '../target/index.js';
import { laptop, openEnvironmentDesk, website } from './environment-desk.js';

const target = useTarget();
const local = { needs: ['local'] } as const;

rule(['environments.list', 'environments.fields'], 'the list returns success and contains one default', async () => {
  const { body, status } = await target.call('GET', '/environments');
  expect(status).toBe(200);
  expect(body).toMatchObject({ success: true });
  expect(body).not.toHaveProperty('ok');
  // Each record is read strictly by the target.
  expect(body.environments.filter(({ isDefault }) => isDefault)).toHaveLength(1);
});

rule('environments.put-invalid-json', 'a body that is not JSON is refused', async () => {
  const { body } = await target.call('GET', '/environments');
  const path = `/environments/${body.environments[0]?.id}`;
  const answer = await target.call('PUT', path, {
    rawBody: '{"name":',
    headers: { 'content-type': 'application/json' },
  });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
});

rule('environments.put-unauthorized', 'a call without a valid key answers unauthorized', async () => {
  for (const key of [null, 'no-key-of-anyone']) {
    const answer = await target.call('PUT', '/environments/x', { body: {}, key });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  }
});

rule('environments.list', 'an unknown environment is not found', async () => {
  const nowhere = '/environments/11111111-2222-4333-8444-555555555555';
  expect(await target.call('PUT', nowhere, { body: { name: 'x' } })).toMatchObject({ status: 404 });
  expect(await target.call('POST', `${nowhere}/upgrade`)).toMatchObject({ status: 404 });
});

rule(
  ['environments.put-response', 'environments.put-all-optional'],
  'an empty body changes nothing and returns the environment',
  async () => {
    const { make, put, read } = await openEnvironmentDesk();
    const id = make('quiet');
    const before = await read(id);
    const answer = await put(id, {});
    expect(answer).toMatchObject({ status: 200, body: { success: true, environment: before } });
  },
  local,
);

rule(
  ['environments.flags', 'environments.put-mints-version', 'environments.versions-immutable', 'environments.versions'],
  'each flag creates one new version, and leaves earlier ones unchanged',
  async () => {
    const { make, put } = await openEnvironmentDesk();
    const id = make('flags');
    const flags = ['safeForThirdParties', 'passRepoHost', 'passSecrets', 'passSandboxCredentials'] as const;
    let earlier: readonly unknown[] = [];
    for (const [index, flag] of [...flags, 'passAgentsCredentials' as const].entries()) {
      const { environment } = (await put(id, { [flag]: true })).body;
      expect(environment[flag]).toBe(true);
      const { versions = [] } = environment;
      expect(versions).toHaveLength(index + 2);
      expect(versions.at(-1)).toMatchObject({ id: environment.latestVersionId, versionNumber: index + 2 });
      expect(versions.slice(0, -1)).toEqual(index === 0 ? versions.slice(0, 1) : earlier);
      earlier = versions;
    }
  },
  local,
);

rule(
  ['environments.put-mints-version', 'environments.put-contents'],
  'new content replaces the previous one and creates a version; identical content creates none',
  async () => {
    const { make, put } = await openEnvironmentDesk();
    const id = make('content', { envContents: 'A=1\nB=2' });
    const changes = [{ envContents: 'C=3' }, { secretFiles: [{ path: 'key', contents: 'k' }] }];
    for (const [index, change] of changes.entries()) {
      for (const _again of [1, 2]) {
        const { environment } = (await put(id, change)).body;
        expect(environment).toMatchObject(change);
        expect(environment.versions).toHaveLength(index + 2);
      }
    }
  },
  local,
);

rule(
  'environments.put-rename-alone',
  'a new name and a new default create no version, and sandboxes show the name',
  async () => {
    const desk = await openEnvironmentDesk();
    const id = desk.make('before');
    const sandbox = await desk.target.ready({ environment: 'before' });
    const { environment } = (await desk.put(id, { name: 'after' })).body;
    expect(environment).toMatchObject({ name: 'after', versions: [{ versionNumber: 1, sandboxCount: 1 }] });
    expect((await desk.put(id, { isDefault: true })).body.environment.versions).toHaveLength(1);
    const { body } = await desk.target.call('GET', `/sandboxes/${sandbox}`);
    expect(body.sandbox).toMatchObject({ environment: 'after', environmentVersion: 1 });
    const list = await desk.target.call('GET', '/sandboxes');
    expect(list.body.sandboxes[0]?.environment).toBe('after');
  },
  local,
);

rule(
  'environments.put-default',
  'a new default replaces the previous one',
  async () => {
    const { target: own, make, put } = await openEnvironmentDesk();
    const id = make('next');
    await put(id, { isDefault: true });
    const { environments } = (await own.call('GET', '/environments')).body;
    expect(environments.map(({ name, isDefault }) => [name, isDefault])).toEqual([
      ['Default', false],
      ['next', true],
    ]);
    const sandbox = await own.ready();
    expect((await own.call('GET', `/sandboxes/${sandbox}`)).body.sandbox.environment).toBe('next');
  },
  local,
);

rule(
  'environments.put-conflict',
  'a duplicate name, and an account without a default, are conflicts',
  async () => {
    const { make, put, read } = await openEnvironmentDesk();
    const id = make('one');
    make('two');
    const taken = await put(id, { name: 'two', envContents: 'A=1' });
    expect(taken).toMatchObject({ status: 409, body: { code: 'environment_name_taken' } });
    // All of it is refused, not the name alone.
    expect(await read(id)).toMatchObject({ name: 'one', envContents: '' });
    await put(id, { isDefault: true });
    const orphaned = await put(id, { isDefault: false });
    expect(orphaned).toMatchObject({ status: 409, body: { code: 'default_environment_required' } });
    expect(await read(id)).toMatchObject({ isDefault: true });
  },
  local,
);

rule(
  ['environments.put-repositories', 'environments.put-repository-id', 'environments.selected-repositories'],
  'repositories are named by databaseId and replace the selection',
  async () => {
    const { make, put } = await openEnvironmentDesk();
    const id = make('repositories');
    const script = { setupScript: 'npm ci', setupBlocking: true, baseBranch: 'next' };
    const both = [{ repositoryId: String(laptop.id) }, { repositoryId: website.databaseId, ...script }];
    const first = (await put(id, { repositories: both })).body.environment;
    expect(first.selectedRepositories).toEqual([
      {
        id: 7,
        databaseId: '7',
        name: 'laptop',
        fullName: 'acme/laptop',
        private: false,
        permissions: 'write',
        pushedAt: laptop.pushedAt,
        baseBranch: 'main',
        setupRoutineId: null,
        setupScript: null,
        setupBlocking: false,
      },
      expect.objectContaining({ id: 8, databaseId: 'db-8', private: true, ...script }),
    ]);
    const second = (await put(id, { repositories: both.slice(1) })).body.environment;
    expect(second.selectedRepositories).toHaveLength(1);
    expect(second.versions).toHaveLength(3);
    for (const wrong of ['8', 'acme/website', '9']) {
      const refused = await put(id, { repositories: [{ repositoryId: wrong }] });
      expect(refused.status).toBe(400);
      expect(refused.body.message).toContain('repositories.0.repositoryId');
    }
  },
  local,
);

rule(
  'environments.versions',
  'sandboxCount counts the existing sandboxes of each version',
  async () => {
    const { target: own, make, put, read } = await openEnvironmentDesk();
    const id = make('counted');
    const [archived, deleted] = [
      await own.ready({ environment: 'counted' }),
      await own.ready({ environment: 'counted' }),
    ];
    await put(id, { envContents: 'A=1' });
    await own.ready({ environment: 'counted' });
    await own.archive(archived);
    const counts = async () => (await read(id)).versions?.map(({ sandboxCount }) => sandboxCount);
    expect(await counts()).toEqual([2, 1]);
    await own.call('DELETE', `/sandboxes/${deleted}`, { headers: { 'x-svc-confirm-delete': deleted } });
    await expect.poll(counts).toEqual([1, 1]);
  },
  local,
);
