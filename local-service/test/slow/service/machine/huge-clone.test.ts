/** A repository that is larger than the disk of the service. Tier: all, half a minute. It needs root, for a small disk. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMachineHost } from '../../../../src/machine/index.js';
import { ownSandboxId } from '../../../service/machine/machine-fixture.js';

const mib = 1024 ** 2;
const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'core.compression=0', '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    stdio: 'pipe',
  });

it('a clone leaves half of a small disk free, and leaves nothing behind', async (context) => {
  if (process.getuid?.() !== 0) context.skip('only root may mount a small disk');
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-huge-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [work, directory] = [join(folder, 'work'), join(folder, 'disk')];
  git('init', '-q', '-b', 'trunk', work);
  writeFileSync(join(work, 'huge'), randomBytes(512 * mib));
  git('-C', work, 'add', '.');
  git('-C', work, 'commit', '-q', '-m', 'Begin');
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=640m', 'none', directory]);
  onTestFinished(() => void execFileSync('umount', [directory]));
  const free = (): number => statfsSync(directory).bavail * statfsSync(directory).bsize;
  const host = await createMachineHost({ directory, isolation: 'plain' });
  onTestFinished(() => host.close());
  await host.createDisk(ownSandboxId);
  let least = free();
  const watch = setInterval(() => {
    least = Math.min(least, free());
  }, 10);
  onTestFinished(() => clearInterval(watch));
  const source = { asUser: true, url: work, branch: 'trunk', folder: 'website', env: {}, timeoutMs: 300_000 };
  const cloning = host.cloneRepository(ownSandboxId, source);
  await expect(cloning).rejects.toThrow('it would fill the disk of this machine');
  // The rest is what git writes until it has ended.
  expect(least).toBeGreaterThan(128 * mib);
  expect(free()).toBeGreaterThan(630 * mib);
});
