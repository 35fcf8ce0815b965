import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isolationWarnings } from '../../../src/machine/index.js';
import { chooseNetwork } from '../../../src/machine/network/choose-network.js';
import { defaultProgramPath, findProgram } from '../../../src/machine/program.js';
import { temporaryDirectory } from './machine-fixture.js';

/**
 * What is said of the network on a machine with these programs.
 * @param said what each program says before it fails. Without it, a program is the one of this machine.
 */
async function warningWith(programs: readonly string[], said: Readonly<Record<string, string>> = {}) {
  const programPath = join(await temporaryDirectory(), 'bin');
  await mkdir(programPath);
  for (const name of programs) {
    const file = join(programPath, name);
    const real = said[name] === undefined ? await findProgram(name, defaultProgramPath) : undefined;
    if (real) {
      await symlink(real, file);
      continue;
    }
    await writeFile(file, `#!/bin/sh\necho '${said[name] ?? ''}' >&2\nexit 1\n`);
    await chmod(file, 0o755);
  }
  const { networks, description } = await chooseNetwork({}, { programPath, log: () => undefined });
  onTestFinished(() => networks.end());
  return isolationWarnings({ isolation: 'bubblewrap', network: description, lacks: [] }).join('\n');
}

const all = ['unshare', 'nsenter', 'ip', 'slirp4netns'];
const without = (...names: readonly string[]) => all.filter((name) => !names.includes(name));
const named = (warning: string) => /Install ([^.]*)\./.exec(warning)?.[1];

describe('a machine on which sandboxes have no network', () => {
  it('names the packages that are missing, and no others', async () => {
    expect(named(await warningWith(without('ip')))).toBe('iproute2');
    expect(named(await warningWith(without('ip', 'slirp4netns')))).toBe('iproute2 and slirp4netns');
    expect(named(await warningWith(without('unshare', 'nsenter')))).toBe('util-linux');
  });

  it('names what the machine refuses, and no package, if all are installed', async () => {
    const noNamespaces = await warningWith(all, { unshare: 'unshare: unshare failed: Operation not permitted' });
    expect(noNamespaces).toContain('Operation not permitted. Let this user create user and network namespaces. Or set');
    expect(named(noNamespaces)).toBeUndefined();
  });

  it.each([
    ['No such file or directory', 'Load the kernel module tun, or give this container the device /dev/net/tun.'],
    ['Permission denied', 'Let this user read and write /dev/net/tun.'],
  ])('says what /dev/net/tun lacks: %s', async (problem, mend) => {
    const programs = { slirp4netns: `open("/dev/net/tun"): ${problem}` };
    const warning = await warningWith(all, programs);
    expect(warning).toContain(mend);
    expect(named(warning)).toBeUndefined();
  });
});
