/** The login of the host of repositories, against a real git server that asks for it. Tier: gate, about 10 s. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RepoHost } from '../../../src/environments/logins.js';
import type { LocalServiceOptions } from '../../../src/index.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';
import { rule } from '../rule.js';
import { startPeople } from '../target/index.js';
import { openEnvironmentDesk, website } from './environment-desk.js';
import { type GitServer, startGitServer } from './git-server.js';

const local = { needs: ['local'] } as const;
const token = 'tok-0123456789-of-ann';
const selection = { repositories: [{ repositoryId: 'db-8' }] };
const push =
  'cd website && echo more >> README.md && git -c user.name=a -c user.email=a@b commit -qam More && git push -q 2>&1 | tail -1; true';

/** A server that lets in only this login, and the settings that name it. */
async function privateHost(): Promise<{ server: GitServer; settings: Partial<LocalServiceOptions> }> {
  const server = await startGitServer({ 'README.md': 'hello\n' }, { login: `ann:${token}` });
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-token-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  const repoHost = { url: new URL(server.url).origin, login: 'ann', tokenFile };
  return { server, settings: { repoHost, repos: [{ ...website, cloneUrl: server.url }], network: 'host' } };
}

const commits = ({ folder }: GitServer): string =>
  execFileSync('git', ['-C', folder, 'rev-list', '--count', 'trunk'], { encoding: 'utf8' }).trim();

for (const isolation of usableIsolations) {
  rule(
    'environments.pass-repo-host',
    `a private repository is cloned with the login, and a ${isolation} sandbox can push only with the flag`,
    async () => {
      const { server, settings } = await privateHost();
      const lines: string[] = [];
      const log = (...parts: readonly unknown[]) => void lines.push(JSON.stringify(parts));
      const desk = await openEnvironmentDesk({ ...settings, isolation, log });
      desk.make('without', selection);
      desk.make('with', { ...selection, passRepoHost: true });
      const without = await desk.target.ready({ environment: 'without' });
      expect(await desk.run(without, push)).toMatch(/could not read Username|terminal prompts disabled|No such device/);
      expect(await desk.run(without, 'env')).not.toContain(token);
      expect(commits(server)).toBe('1');
      const id = await desk.target.ready({ environment: 'with' });
      expect(await desk.run(id, 'git -C website remote get-url origin')).toBe(server.url);
      expect(await desk.run(id, push)).toBe('');
      expect(commits(server)).toBe('2');
      // Git starts the helper as a command, which GET …/processes shows.
      expect(await desk.run(id, 'echo "$GIT_CONFIG_VALUE_1"')).toContain('SANDBOX_REPO_TOKEN');
      expect(await desk.run(id, 'echo "$GIT_CONFIG_VALUE_1"')).not.toContain(token);
      await desk.target.archive(id);
      const { books } = desk.target.service;
      expect(JSON.stringify([books.calls(), books.sandboxes(), lines])).not.toContain(token);
      // The database, the disks and the snapshots.
      const found = spawnSync('grep', ['-rlF', token, desk.target.directory], { encoding: 'utf8' });
      expect(found.stdout).toBe('');
    },
    local,
  );
}

rule(
  ['environments.pass-repo-host', 'access.share-wipe', 'environments.upgrade-scrubs'],
  'the login is gone after an upgrade that drops it, and after the restart of a shared sandbox',
  async () => {
    const { settings } = await privateHost();
    const desk = await openEnvironmentDesk(settings);
    const { accounts } = desk.target.service;
    accounts.createTeam({ name: 'Acme', members: ['local'] });
    const environment = desk.make('coding', { ...selection, passRepoHost: true });
    const [upgraded, shared] = [
      await desk.target.ready({ environment: 'coding' }),
      await desk.target.ready({ environment: 'coding' }),
    ];
    expect(await desk.run(shared, 'git -C website ls-remote origin trunk')).toMatch(/trunk$/);
    const share = await desk.target.call('POST', `/sandboxes/${shared}/share`);
    expect(share.body.sandbox).toMatchObject({ wipePendingUntilRestart: true });
    await desk.target.archive(shared);
    await desk.target.call('POST', `/sandboxes/${shared}/resume`, { body: {} });
    expect(await desk.target.reach(shared, 'ready')).toMatchObject({ holdsCreatorLogins: false });
    await desk.put(environment, { passRepoHost: false });
    expect(await desk.run(upgraded, 'echo "$SANDBOX_REPO_TOKEN"')).toBe(token);
    await desk.upgrade(environment);
    for (const id of [upgraded, shared]) {
      expect(await desk.run(id, 'env; git -C website ls-remote origin trunk 2>/dev/null; true')).not.toMatch(
        /SANDBOX_REPO|GIT_CONFIG|trunk/,
      );
    }
  },
  local,
);

rule(
  'environments.pass-repo-host',
  'another account neither clones with the login nor gets it',
  async () => {
    const { settings } = await privateHost();
    const { ann, local: target } = await startPeople(settings);
    target.service.setup.createEnvironment({ name: 'plain', passRepoHost: true }, ann.accountId);
    const id = await ann.ready({ environment: 'plain' });
    const { body } = await ann.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'env' } });
    expect(body.stdout).not.toContain('SANDBOX_REPO');
    target.service.setup.createEnvironment({ name: 'coding', passRepoHost: true, ...selection }, ann.accountId);
    const made = await ann.call('POST', '/sandboxes', { body: { environment: 'coding' } });
    const failed = await ann.reach(made.body.sandbox.id, 'error');
    expect(failed.error).toMatch(/^The repository acme\/website could not be cloned: fatal: could not read Username/);
    target.service.setup.setRepos([{ ...website, cloneUrl: '/srv/website' }], ann.accountId);
    const other = await ann.call('POST', '/sandboxes', { body: { environment: 'coding' } });
    expect((await ann.reach(other.body.sandbox.id, 'error')).error).toBe(
      'The repository acme/website could not be cloned: this account may clone from https and http addresses only',
    );
  },
  local,
);

rule(
  'environments.pass-repo-host',
  'a server that repeats the login cannot put it into the record of a sandbox',
  async () => {
    const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;
    let before = 'refused: ';
    const server = createServer(({ headers: { authorization } }, response) => {
      if (authorization === undefined) return response.writeHead(401, { 'www-authenticate': 'Basic realm="g"' }).end();
      const login = Buffer.from(authorization.slice('Basic '.length), 'base64').toString();
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement');
      return response.end(`${packet('# service=git-upload-pack\n')}0000${packet(`ERR ${before}${login}`)}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { settings } = await privateHost();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const desk = await openEnvironmentDesk({
      repoHost: { ...(settings.repoHost as RepoHost), url },
      repos: [{ ...website, cloneUrl: `${url}/website.git` }],
    });
    desk.make('coding', selection);
    const errorOf = async () => {
      const { body } = await desk.target.call('POST', '/sandboxes', { body: { environment: 'coding' } });
      return (await desk.target.reach(body.sandbox.id, 'error')).error;
    };
    expect(await errorOf()).toMatch(/could not be cloned: fatal: remote error: refused: ann:\[redacted\]$/);
    // The text is cut within the login.
    before = 'x'.repeat(500 - 'fatal: remote error: ann:'.length - 10);
    expect(await errorOf()).toMatch(/x ?ann:\[redacted\]$/);
  },
  local,
);

rule(
  'environments.pass-repo-host',
  'a login that cannot be read is named when the service starts, and never quoted',
  async () => {
    const { settings } = await privateHost();
    const repoHost = { url: 'https://git.example.com', login: 'ann', tokenFile: '/nowhere/token' };
    await expect(openEnvironmentDesk({ ...settings, repoHost })).rejects.toThrow(
      '/nowhere/token, the file of repoHost.tokenFile, does not exist.',
    );
    for (const many of [
      'http://*',
      'https://*.example.com',
      'https://git.example.com:',
      'https://git.example.com/acme',
    ]) {
      const { tokenFile } = settings.repoHost as RepoHost;
      await expect(openEnvironmentDesk({ repoHost: { url: many, login: 'ann', tokenFile } }), many).rejects.toThrow(
        'repoHost.url: must be an address without a path',
      );
    }
    const url = `https://ann:${token}@git.example.com`;
    const refused = await openEnvironmentDesk({ ...settings, repoHost: { ...repoHost, url } }).catch(String);
    expect(refused).toContain('repoHost.url: must be an address without a path');
    expect(refused).not.toContain(token);
    const inPlace = { repoHost: url, agentCredentials: { claude: token } } as unknown as Partial<LocalServiceOptions>;
    expect(await openEnvironmentDesk(inPlace).catch(String)).toBe(
      'SandflowError: repoHost: must be an object, not a text; agentCredentials.claude: must be an object, not a text.',
    );
    for (const address of [`${token}@git.example.com/website.git`, `git.example.com/website.git?token=${token}`]) {
      const withLogin = { ...website, cloneUrl: `https://${address}` };
      const repo = await openEnvironmentDesk({ repos: [withLogin] }).catch(String);
      expect(repo).toContain('must hold no login');
      expect(repo).not.toContain(token);
    }
  },
  local,
);
