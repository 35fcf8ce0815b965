/** Clones of real git servers, over ssh and http, and what bounds them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runGit } from '../../../src/machine/disk/run-git.js';
import { createMachineHost } from '../../../src/machine/index.js';
import type { MachineHost } from '../../../src/machine/machine-host.js';
import { type GitServer, startGitServer } from '../../conformance/environments/git-server.js';
import { ownSandboxId, runningWith, temporaryDirectory } from './machine-fixture.js';
import { hasSshDaemon, startSshDaemon } from './ssh-daemon.js';

const source = { asUser: true, branch: 'trunk', folder: 'website', env: {}, timeoutMs: 60_000 };

async function hostWith(options: { readonly diskReserveBytes?: number } = {}): Promise<MachineHost> {
  const host = await createMachineHost({ directory: await temporaryDirectory(), isolation: 'plain', ...options });
  onTestFinished(() => host.close());
  await host.createDisk(ownSandboxId);
  return host;
}

async function checkedOut(host: MachineHost): Promise<string> {
  const command = 'git reset -q --hard && cat README.md && cat .git/config';
  return (await host.run(ownSandboxId, { command, cwd: 'website' })).stdout;
}

/** A server that takes every request and never answers. */
async function startSilentServer(): Promise<{ readonly url: string; readonly asked: Promise<void> }> {
  let onAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  return { url: await startServer(onAsked), asked };
}

async function startServer(answer: (response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/website.git`;
}

const login = 'ann:tok-0123456789';
/** Files of the home by which git gets a login, or another address, without being asked. They tell that they were used. */
const ways: Readonly<Record<string, (home: string, server: GitServer) => Readonly<Record<string, string>>>> = {
  'a credential helper': (home) => ({
    '.gitconfig': `[credential]\n\thelper = "!f() { touch ${home}/used; printf 'username=ann\\npassword=tok-0123456789\\n'; }; f"\n`,
  }),
  'a stored login': (home) => ({
    '.config/git/config': `[credential]\n\thelper = "store --file ${home}/stored"\n`,
    stored: 'http://ann:tok-0123456789@127.0.0.1\n',
  }),
  '.netrc': () => ({ '.netrc': 'machine 127.0.0.1 login ann password tok-0123456789\n' }),
  'a header of the settings': () => ({
    '.gitconfig': `[http]\n\textraHeader = "Authorization: Basic ${Buffer.from(login).toString('base64')}"\n`,
  }),
  'another address of the settings': (_, { url, folder }) => ({
    '.gitconfig': `[url "${folder}"]\n\tinsteadOf = ${url}\n`,
  }),
};

describe('the logins of the user who runs the service', () => {
  /** The home of the user. */
  async function homeWith(files: (home: string) => Readonly<Record<string, string>>): Promise<string> {
    const home = await temporaryDirectory();
    for (const [name, text] of Object.entries(files(home))) {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), text, { mode: 0o600 });
    }
    vi.stubEnv('HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    return home;
  }

  it.each(Object.entries(ways))('clone by %s for the user, and for nobody else', async (_, files) => {
    const [server, host] = [await startGitServer({ 'README.md': 'hi\n' }, { login }), await hostWith()];
    const home = await homeWith((own) => files(own, server));
    const { port } = new URL(server.url);
    if (existsSync(join(home, 'stored'))) writeFileSync(join(home, 'stored'), `http://${login}@127.0.0.1:${port}\n`);
    const clone = (asUser: boolean) => host.cloneRepository(ownSandboxId, { ...source, asUser, url: server.url });
    await expect(clone(false)).rejects.toThrow(/could not read Username|Authentication failed/);
    expect(existsSync(join(home, 'used'))).toBe(false);
    await clone(true);
    expect(await checkedOut(host)).toMatch(/^hi\n/);
  });

  it('let nobody else read a folder of this machine, or use a key of ssh', async () => {
    const [server, host] = [await startGitServer({ 'README.md': 'hi\n' }), await hostWith()];
    await homeWith(() => ({}));
    for (const url of [
      server.folder,
      `file://${server.folder}`,
      `ssh://git@127.0.0.1:1${server.folder}`,
      'git@host:a/b',
    ]) {
      const clone = host.cloneRepository(ownSandboxId, { ...source, asUser: false, url });
      await expect(clone).rejects.toThrow('this account may clone from https and http addresses only');
    }
    await host.cloneRepository(ownSandboxId, { ...source, asUser: false, url: server.url });
    expect(await checkedOut(host)).toMatch(/^hi\n/);
  });
});

describe.skipIf(!hasSshDaemon)('over ssh (needs /usr/sbin/sshd)', () => {
  it('clones from an address of either form, with a key of the user', async () => {
    const [{ folder }, daemon, host] = [
      await startGitServer({ 'README.md': 'hi\n' }),
      await startSshDaemon(),
      await hostWith(),
    ];
    for (const url of [`ssh://${daemon.user}@127.0.0.1:${daemon.port}${folder}`, `${daemon.user}@git-host:${folder}`]) {
      await host.cloneRepository(ownSandboxId, { ...source, url, env: daemon.env });
      expect(await checkedOut(host)).toMatch(/^hi\n/);
    }
  });

  it('names what ssh refuses, and asks nobody', async () => {
    const [{ folder }, daemon, host] = [
      await startGitServer({ 'README.md': 'hi\n' }),
      await startSshDaemon(),
      await hostWith(),
    ];
    const url = `ssh://${daemon.user}@127.0.0.1:${daemon.port}${folder}`;
    const clone = (env: Readonly<Record<string, string>>) =>
      host.cloneRepository(ownSandboxId, { ...source, url, env });
    await expect(clone(daemon.strangerEnv)).rejects.toThrow('Permission denied (publickey');
    // As the service runs it. The user has never seen the key of this server.
    await expect(clone({})).rejects.toThrow('Host key verification failed.');
  });
});

it('asks nobody for a login over http', async () => {
  const [{ url }, host] = [await startGitServer({ 'README.md': 'hi\n' }, { login: 'ann:secret' }), await hostWith()];
  const [HOME, asked] = [await temporaryDirectory(), join(await temporaryDirectory(), 'asked')];
  const ask = join(HOME, 'ask');
  writeFileSync(ask, `#!/bin/sh\ntouch ${asked}; echo secret\n`, { mode: 0o755 });
  writeFileSync(join(HOME, '.gitconfig'), `[core]\n\taskPass = ${ask}\n`);
  const cloning = host.cloneRepository(ownSandboxId, { ...source, url, env: { HOME } });
  await expect(cloning).rejects.toThrow('fatal: could not read Username');
  expect(existsSync(asked)).toBe(false);
});

it('ends a clone that hangs, with every program that git has started', async () => {
  const [{ url, asked }, host] = [await startSilentServer(), await hostWith()];
  const end = new AbortController();
  const cloning = host.cloneRepository(ownSandboxId, { ...source, url }, end.signal);
  const failed = expect(cloning).rejects.toThrow('the service is shutting down');
  await asked;
  expect(runningWith(url).length).toBeGreaterThan(1);
  end.abort();
  await failed;
  await expect.poll(() => runningWith(url)).toEqual([]);
  const late = host.cloneRepository(ownSandboxId, { ...source, url, timeoutMs: 100 });
  await expect(late).rejects.toThrow('it did not end within 0.1 s');
});

it('ends a clone once the disk is at its reserve', async () => {
  const [{ url }, host] = [await startSilentServer(), await hostWith({ diskReserveBytes: Number.MAX_SAFE_INTEGER })];
  const cloning = host.cloneRepository(ownSandboxId, { ...source, url });
  await expect(cloning).rejects.toThrow('it would fill the disk of this machine');
  await expect.poll(() => runningWith(url)).toEqual([]);
});

it('ends a clone whose server sends branches without end', async () => {
  const line = `${'a'.repeat(40)} refs/heads/${'b'.repeat(60_000)}\n`;
  const packet = (line.length + 4).toString(16).padStart(4, '0') + line;
  let sentBytes = 0;
  const url = await startServer((response) => {
    response.setHeader('content-type', 'application/x-git-upload-pack-advertisement');
    response.write('001e# service=git-upload-pack\n0000');
    const send = (): void => {
      do sentBytes += packet.length;
      while (sentBytes < 1024 ** 3 && response.write(packet));
      if (sentBytes < 1024 ** 3) response.once('drain', send);
    };
    send();
  });
  const limits = { timeoutMs: 60_000, memoryBytes: 64 * 1024 ** 2, mustEnd: async () => null, signal: undefined };
  expect(await runGit(['ls-remote', url], { env: {}, ...limits })).toMatch(/^fatal: Out of memory/);
  expect(sentBytes).toBeLessThan(256 * 1024 ** 2);
});

it('ends a clone with the disk for which it is made', async () => {
  const [{ url, asked }, host] = [await startSilentServer(), await hostWith()];
  const cloning = host.cloneRepository(ownSandboxId, { ...source, url });
  const failed = expect(cloning).rejects.toThrow('the sandbox was deleted');
  await asked;
  await host.deleteDisk(ownSandboxId);
  await failed;
  await expect.poll(() => runningWith(url)).toEqual([]);
});

it('leaves submodules to the sandbox, which can fetch them', async () => {
  const [library, main, host] = [
    await startGitServer({ 'lib.txt': 'library\n' }),
    await startGitServer({ 'README.md': 'hi\n' }),
    await hostWith(),
  ];
  await addSubmodule(main, library);
  await host.cloneRepository(ownSandboxId, { ...source, url: main.url });
  expect(await checkedOut(host)).toMatch(/^hi\n/);
  const look = 'ls lib; git submodule update --quiet --init && cat lib/lib.txt';
  expect((await host.run(ownSandboxId, { command: look, cwd: 'website' })).stdout).toBe('library\n');
});

async function addSubmodule(main: GitServer, library: GitServer): Promise<void> {
  const work = join(await temporaryDirectory(), 'work');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com', ...args], { encoding: 'utf8' });
  git('clone', '--quiet', main.folder, work);
  git('-C', work, 'config', '-f', '.gitmodules', 'submodule.lib.path', 'lib');
  git('-C', work, 'config', '-f', '.gitmodules', 'submodule.lib.url', library.url);
  const commit = git('-C', library.folder, 'rev-parse', 'trunk').trim();
  git('-C', work, 'add', '.gitmodules');
  git('-C', work, 'update-index', '--add', '--cacheinfo', `160000,${commit},lib`);
  git('-C', work, 'commit', '--quiet', '--message', 'Add a library');
  git('-C', work, 'push', '--quiet');
}
