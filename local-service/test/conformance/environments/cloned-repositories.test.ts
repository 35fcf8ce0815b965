/** Repositories with an address are cloned, from a real git server. Tier: gate, about 10 s. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type EnvironmentDesk, openEnvironmentDesk, website } from './environment-desk.js';
import { startGitServer } from './git-server.js';

const local = { needs: ['local'] } as const;

/** An environment that selects the repository. */
async function select(desk: EnvironmentDesk, selection: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const id = desk.make('coding');
  const repositories = [{ repositoryId: 'db-8', ...selection }];
  expect((await desk.put(id, { repositories })).status).toBe(200);
}

/** Creates a sandbox in the environment, and waits until it is in one of the states. */
async function created(
  { target }: EnvironmentDesk,
  states: readonly string[],
  body: Readonly<Record<string, unknown>> = {},
) {
  const { body: answer } = await target.call('POST', '/sandboxes', { body: { environment: 'coding', ...body } });
  const { id } = answer.sandbox;
  const read = async () => (await target.call('GET', `/sandboxes/${id}`)).body.sandbox;
  await expect.poll(async () => (await read()).state, { timeout: 60_000 }).toSatisfy((state) => states.includes(state));
  return { id, read, sandbox: await read() };
}

rule(
  'environments.put-repositories',
  'a selected repository is cloned into the home, on its branch, from a git server and from a folder',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    for (const [cloneUrl, isolation] of [
      [server.url, 'plain'],
      [server.folder, 'auto'],
    ] as const) {
      const desk = await openEnvironmentDesk({ isolation, repos: [{ ...website, cloneUrl }] });
      await select(desk);
      const { id } = await created(desk, ['ready']);
      const status = 'cat README.md && git rev-parse --abbrev-ref HEAD && git status --porcelain';
      expect(await desk.run(id, `cd website && ${status}`)).toBe('hello\ntrunk');
      expect(await desk.run(id, 'git -C website remote get-url origin')).toBe(cloneUrl);
      expect((await desk.target.call('GET', '/repos')).text).not.toContain(cloneUrl);
    }
  },
  local,
);

rule(
  'environments.put-repositories',
  'the sandbox is cloning while its repositories are cloned and their blocking scripts run',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const desk = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    await select(desk, {
      setupScript: 'touch ../waits; while [ ! -e ../go ]; do sleep 0.05; done; pwd > ../where',
      setupBlocking: true,
    });
    const { id, read } = await created(desk, ['cloning']);
    const home = join(desk.target.directory, 'machines', 'disks', id);
    await expect.poll(() => existsSync(join(home, 'waits')), { timeout: 60_000 }).toBe(true);
    expect((await read()).state).toBe('cloning');
    writeFileSync(join(home, 'go'), '');
    await expect.poll(async () => (await read()).state, { timeout: 60_000 }).toBe('ready');
    expect(await desk.run(id, 'cat where')).toMatch(/\/website$/);
  },
  local,
);

rule(
  'environments.put-repositories',
  'scripts that do not block run before the setup script of the create, and set its status',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const desk = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    await select(desk, { setupScript: 'cp README.md ../copy' });
    const first = await created(desk, ['ready'], { setupScript: 'cat copy copy > twice' });
    await expect.poll(async () => (await first.read()).setupStatus).toBe('done');
    expect(await desk.run(first.id, 'cat twice')).toBe('hello\nhello');
    const second = await created(desk, ['ready']);
    await expect.poll(async () => (await second.read()).setupStatus).toBe('done');
    expect(await desk.run(second.id, 'cat copy')).toBe('hello');
  },
  local,
);

rule(
  'environments.put-repositories',
  'a repository that cannot be cloned, or whose blocking script fails, is an error that says why',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const desk = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    await select(desk, { baseBranch: 'missing' });
    const { sandbox } = await created(desk, ['error']);
    expect(sandbox.error).toBe(
      'The repository acme/website could not be cloned: fatal: Remote branch missing not found in upstream origin',
    );
    const other = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    await select(other, { setupScript: 'echo no tools >&2; exit 3', setupBlocking: true });
    const failed = await created(other, ['error']);
    expect(failed.sandbox.error).toBe('The setup script of acme/website failed: exit code 3: no tools\n');
  },
  local,
);

rule(
  'environments.put-repositories',
  'a resume after such an error clones again, and is an error again until that works',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const desk = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    const selection = { setupScript: 'test -e ../again || { touch ../again; exit 3; }', setupBlocking: true };
    await select(desk, selection);
    rmSync(join(server.folder, 'HEAD'));
    const { id, sandbox } = await created(desk, ['error']);
    expect(sandbox.error).toContain('could not be cloned');
    const resumed = async (state: string) => {
      expect((await desk.target.call('POST', `/sandboxes/${id}/resume`)).status).toBe(202);
      return await desk.target.reach(id, state);
    };
    expect((await resumed('error')).error).toContain('could not be cloned');
    writeFileSync(join(server.folder, 'HEAD'), 'ref: refs/heads/trunk\n');
    expect((await resumed('error')).error).toContain('The setup script of acme/website failed: exit code 3');
    expect((await resumed('ready')).error).toBeNull();
    expect(await desk.run(id, 'cat website/README.md')).toBe('hello');
  },
  local,
);

rule(
  'environments.put-repositories',
  'a resume keeps what was changed in a clone, and a fork has it too',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const desk = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    await select(desk);
    const { id, read } = await created(desk, ['ready']);
    await desk.run(id, 'echo changed > website/README.md');
    await desk.target.call('POST', `/sandboxes/${id}/stop`);
    await expect.poll(async () => (await read()).state, { timeout: 60_000 }).toBe('archived');
    await desk.target.call('POST', `/sandboxes/${id}/resume`);
    await expect.poll(async () => (await read()).state, { timeout: 60_000 }).toBe('ready');
    expect(await desk.run(id, 'cat website/README.md')).toBe('changed');
    const { body } = await desk.target.call('POST', `/sandboxes/${id}/fork`, { body: {} });
    const fork = async () => (await desk.target.call('GET', `/sandboxes/${body.sandbox.id}`)).body.sandbox.state;
    await expect.poll(fork, { timeout: 60_000 }).toBe('ready');
    expect(await desk.run(body.sandbox.id, 'cat website/README.md')).toBe('changed');
  },
  local,
);

rule(
  'environments.put-repositories',
  'a secret file in the folder of a clone is there before its blocking script runs, and stays',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const desk = await openEnvironmentDesk({ repos: [{ ...website, cloneUrl: server.url }] });
    const id = desk.make('coding', { secretFiles: [{ path: 'website/.env', contents: 'TOKEN=1' }] });
    const selection = { repositoryId: 'db-8', setupScript: 'cp .env ../seen', setupBlocking: true };
    expect((await desk.put(id, { repositories: [selection] })).status).toBe(200);
    const { id: sandboxId } = await created(desk, ['ready']);
    expect(await desk.run(sandboxId, 'cat seen website/.env website/README.md')).toBe('TOKEN=1TOKEN=1hello');
  },
  local,
);

rule(
  'environments.put-repositories',
  'two repositories of the same name are an error, and no name leads out of the home',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n' });
    const other = { ...website, id: 9, databaseId: 'db-9', fullName: 'beta/website' };
    const desk = await openEnvironmentDesk({
      repos: [website, other].map((repo) => ({ ...repo, cloneUrl: server.url })),
    });
    const id = desk.make('coding');
    await desk.put(id, { repositories: [{ repositoryId: 'db-8' }, { repositoryId: 'db-9' }] });
    const { sandbox } = await created(desk, ['error']);
    expect(sandbox.error).toBe('Two of the selected repositories would have the folder website.');
    for (const fullName of ['acme/..', 'acme/.']) {
      expect(() => desk.target.service.setup.setRepos([{ ...website, fullName }])).toThrow('must be owner/name');
    }
  },
  local,
);

/** What a program that is installed for all users, such as `git lfs`, does. */
const filter = (smudge: string) => ({
  secretFiles: [{ path: '.gitconfig', contents: `[filter "large"]\n\tsmudge = "${smudge}"\n\trequired\n` }],
  repositories: [{ repositoryId: 'db-8' }],
});

rule(
  'environments.put-repositories',
  'a checkout has the variables of the environment, ends in time, and shows none of their values',
  async () => {
    const server = await startGitServer({ 'README.md': 'hello\n', '.gitattributes': 'README.md filter=large\n' });
    const repos = [{ ...website, cloneUrl: server.url }];
    const desk = await openEnvironmentDesk({ repos, isolation: 'auto' });
    const coding = desk.make('coding', { ...filter('printenv GREETING'), envContents: 'GREETING=good-morning' });
    const { id } = await created(desk, ['ready']);
    expect(await desk.run(id, 'cat website/README.md')).toBe('good-morning');
    await desk.put(coding, filter('printenv GREETING >&2; false'));
    const { error } = (await created(desk, ['error'])).sandbox;
    expect(error).toMatch(
      /^The repository acme\/website could not be checked out: exit code 128: \[redacted\]\n.*smudge/s,
    );
    expect(error).not.toContain('good-morning');
    const slow = await openEnvironmentDesk({ repos, isolation: 'auto', timings: { cloneMs: 5_000 } });
    slow.make('coding', filter('sleep 1000'));
    // Git may still tell that its filter was ended.
    expect((await created(slow, ['error'])).sandbox.error).toMatch(
      /^The repository acme\/website could not be checked out: it took too long:/,
    );
  },
  local,
);
