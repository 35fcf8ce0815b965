import { expect } from 'vitest';
import { createLocalService } from '../../../src/index.js';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';
import { laptop, openEnvironmentDesk, website } from './environment-desk.js';

const target = useTarget();
const local = { needs: ['local'] } as const;

rule('account.repos-list', 'the repositories are a list', async () => {
  const { body } = await target.call('GET', '/repos');
  expect(body).toMatchObject({ ok: true, type: 'repo.list' });
  expect(Array.isArray(body.repos)).toBe(true);
});

rule(
  'account.repos-list',
  'the list of repositories is empty until options or an account provide some',
  async () => {
    const own = await startLocalTarget();
    const listed = async () => (await own.call('GET', '/repos')).body.repos.map(({ fullName }) => fullName);
    expect(await listed()).toEqual([]);
    own.service.setup.setRepos([website]);
    expect(await listed()).toEqual(['acme/website']);
    const { target: given } = await openEnvironmentDesk();
    expect((await given.call('GET', '/repos')).body.repos).toHaveLength(2);
  },
  local,
);

rule(
  'account.repos-list',
  'invalid repositories are refused when they are configured',
  async () => {
    const own = await startLocalTarget();
    const wrong = [[laptop, laptop], [{ ...laptop, fullName: 'no-owner' }], [{ ...laptop, pushedAt: 'yesterday' }]];
    for (const repos of wrong) {
      const options = { directory: `${own.directory}/other`, apiKey: 'k', repos };
      await expect(createLocalService(options)).rejects.toMatchObject({ code: 'bad_configuration' });
      expect(() => own.service.setup.setRepos(repos)).toThrow();
    }
  },
  local,
);

rule(
  'account.repos-select',
  'a repository is selected into the default environment once, with its branch',
  async () => {
    const { target: own } = await openEnvironmentDesk();
    const select = (body: unknown) => own.call('POST', '/repos', { body });
    const chosen = async () => {
      const { environments } = (await own.call('GET', '/environments')).body;
      const { versions, selectedRepositories } = environments.find(({ isDefault }) => isDefault) ?? {};
      return [versions?.length, selectedRepositories?.map(({ fullName, baseBranch }) => `${fullName} ${baseBranch}`)];
    };
    expect(await chosen()).toEqual([1, []]);
    const first = await select({ fullName: 'acme/website' });
    expect(first.body).toMatchObject({ type: 'repo.selected', repo: { databaseId: 'db-8', baseBranch: 'trunk' } });
    expect(await chosen()).toEqual([2, ['acme/website trunk']]);
    await select({ fullName: 'acme/website' });
    expect(await chosen()).toEqual([2, ['acme/website trunk']]);
    await select({ fullName: 'acme/laptop', baseBranch: 'next' });
    await select({ fullName: 'acme/website', baseBranch: 'old' });
    expect(await chosen()).toEqual([4, ['acme/website old', 'acme/laptop next']]);
    const unknown = await select({ fullName: 'acme/nothing' });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await select({})).status).toBe(400);
    expect((await select({ fullName: 'acme/laptop', baseBranch: 'a\u0000b' })).status).toBe(400);
  },
  local,
);

rule(
  'account.repos-select',
  'a repository that is no longer listed stays selected',
  async () => {
    const { target: own, read } = await openEnvironmentDesk();
    await own.call('POST', '/repos', { body: { fullName: 'acme/laptop' } });
    own.service.setup.setRepos([website]);
    await own.call('POST', '/repos', { body: { fullName: 'acme/website' } });
    const { environments } = (await own.call('GET', '/environments')).body;
    const { selectedRepositories = [] } = await read(environments[0]?.id ?? '');
    expect(selectedRepositories.map(({ fullName }) => fullName)).toEqual(['acme/laptop', 'acme/website']);
  },
  local,
);
