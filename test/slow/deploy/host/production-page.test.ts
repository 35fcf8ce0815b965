/**
 * The page, followed by a user without rights on an empty host.
 * Tier: all. Three minutes on a quiet machine: npm installs the package twice, and a Temporal server and a dozen services start.
 */
import { chmodSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../../src/config.js';
import { findTemporalServer } from '../../../../src/temporal-server/find.js';
import type { Ended } from '../../../e2e/cli/program.js';
import { createPrivateAuthority } from '../../../setup/private-ca.js';
import { readSource } from '../../../unit/house/source-imports.js';
import { type InstalledPackage, installPackage } from '../../e2e/package/installed.js';
import { type Certificates, nextVersionOf, startAccount } from './account.js';
import { createHost, type Host, type HostCommand, missingForHost } from './host.js';

const page = readSource('docs/production.md');

/** The shell blocks of a section, in their order. */
function blocksOf(title: string): string[] {
  const section = page.split(/^(?=#{2,3} )/m).find((part) => part.startsWith(`### ${title}\n`)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
}

const names = ['api.example.com', 'bridge.example.com'];

/** Certificates for the host, in its folder. */
function certificatesOf({ folder }: Host): Certificates {
  const issuer = createPrivateAuthority(names);
  const file = (name: string) => join(folder, name);
  copyFileSync(issuer.file, file('ca.pem'));
  writeFileSync(file('host.pem'), issuer.server.cert);
  writeFileSync(file('host.key'), issuer.server.key, { mode: 0o600 });
  issuer.close();
  return { authority: file('ca.pem'), certificate: file('host.pem'), key: file('host.key') };
}

const missing = missingForHost();

describe.skipIf(missing.length > 0)('docs/production.md, on an empty host, by a user without rights', () => {
  let host: Host;
  let installed: InstalledPackage;
  beforeAll(async () => {
    [installed, host] = await Promise.all([installPackage(), createHost(names)]);
  }, 120_000);
  afterAll(async () => {
    installed?.remove();
    await host?.close();
  });

  const give = (from: string, name: string) => {
    copyFileSync(from, join(host.home, name));
    const { uid, gid } = statSync(host.home);
    chownSync(join(host.home, name), uid, gid);
  };
  /** What the shell of the user has typed before. */
  let session = '';
  const follow = async (block: string | undefined, options?: HostCommand): Promise<Ended> => {
    if (block === undefined) throw new Error('The page has no such block.');
    const end = await host.run(`${session}\nset -e\n${block}`, options);
    expect(end.exitCode, `${block}\n${end.stdout}${end.stderr}\n${host.said().slice(-4_000)}`).toBe(0);
    return end;
  };

  /** The same, line by line: npm alone reaches the network of this machine. */
  const followOnline = async (block: string | undefined) => {
    for (const line of (block ?? '').trimEnd().split('\n')) {
      await follow(block && line, { online: line.startsWith('npm install ') });
    }
  };

  test('a job runs, also through an upgrade, and nothing is left after the removal', async () => {
    give(installed.tarball, 'sandflow-0.1.0.tgz');
    give(nextVersionOf(installed.tarball, host.folder), 'sandflow-0.2.0.tgz');
    const { authority, certificate, key } = certificatesOf(host);
    give(certificate, 'fullchain.pem');
    give(key, 'privkey.pem');
    const apiKey = await startAccount(host, { authority, certificate, key });

    const [install] = blocksOf('Install');
    await followOnline(install);

    const [keyFile, otherSecrets, settings, shell] = blocksOf('Secrets and settings');
    await follow(keyFile, { input: `${apiKey}\n` });
    await follow(otherSecrets);
    await follow(settings?.replace('https://api.example.com/v1', 'https://api.example.com:8444/v1'));
    // "Add what the host needs". npm needs the authority of its registry in the same shell.
    const trusted = join(host.folder, 'trusted.pem');
    const authorities = [authority, process.env.NODE_EXTRA_CA_CERTS].filter((file) => file !== undefined);
    writeFileSync(trusted, authorities.map((file) => readFileSync(file, 'utf8')).join(''));
    await follow(`echo NODE_EXTRA_CA_CERTS=${trusted} >> ~/.config/sandflow/sandflow.env`);
    session = shell ?? '';

    const temporal = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
    give(temporal, 'sandflow/bin/temporal');
    chmodSync(join(host.home, 'sandflow/bin/temporal'), 0o755);
    await follow(blocksOf('Temporal')[0]);
    await follow(blocksOf('Workers, bridge, codec server')[0]);
    const connected = await follow(blocksOf('HTTPS')[0]);
    expect(connected.stdout + connected.stderr).toContain('accepted');
    const first = await follow(blocksOf('The first job')[0]);
    expect(first.stdout).toContain('Say hello');

    // Over the upgrade a job runs, and its worker is one of those that are restarted.
    await follow('sandflow run "```sh\nsleep 40; echo finished\n```" --id long --detach');
    await followOnline(blocksOf('Upgrade')[0]);
    expect((await follow('sandflow --version')).stdout).toContain('0.2.0');
    const long = await follow('sandflow jobs watch long --json');
    expect(JSON.parse(long.stdout)).toMatchObject({
      outcome: 'completed',
      prompts: [{ result: expect.stringContaining('finished') }],
    });
    expect(JSON.parse(long.stdout).wakes.map(({ by }: { by: string }) => by)).not.toContain('safety_poll');

    const webhooks = JSON.parse((await follow('sandflow webhooks list --json')).stdout);
    expect(webhooks.webhooks).toHaveLength(1);
    const [remove] = blocksOf('Remove');
    await follow(remove?.replace('WEBHOOK', webhooks.webhooks[0].id));
    const left = await host.run('find ~ -type f -not -path "*/.npm/*" -not -name "*.tgz" -not -name "*.pem"');
    expect(left.stdout).toBe('');
    expect((await host.run('pgrep -u sandflow -l "node|nginx|temporal"')).stdout).toBe('');
  }, 900_000);
});
