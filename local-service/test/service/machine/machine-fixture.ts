/** Machine hosts for tests, each in its own directory, closed and removed after its test. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeTree } from '../../../src/machine/disk/copy-tree.js';
import { createMachineHost } from '../../../src/machine/index.js';
import type { MachineHost } from '../../../src/machine/machine-host.js';

export const ownSandboxId = 'bx_abcd2345';
export type Isolation = MachineHost['description']['isolation'];
const both: readonly Isolation[] = ['bubblewrap', 'plain'];

/** The modes that this machine supports. Many machines lack bubblewrap. */
export const usableIsolations = (await bubblewrapWorks()) ? both : both.slice(1);

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-machine-'));
  // Including files that a test has made read-only.
  onTestFinished(async () => await removeTree(directory));
  return directory;
}

/** A host with one empty disk, of `ownSandboxId`. */
export async function machine(isolation: Isolation): Promise<{ host: MachineHost; directory: string; disk: string }> {
  const directory = await temporaryDirectory();
  const host = await createMachineHost({ directory, isolation });
  onTestFinished(async () => await host.close());
  await host.createDisk(ownSandboxId);
  return { host, directory, disk: join(directory, 'disks', ownSandboxId) };
}

async function bubblewrapWorks(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-probe-'));
  try {
    const host = await createMachineHost({ directory, isolation: 'auto' });
    await host.close();
    return host.description.isolation === 'bubblewrap';
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Pids of the live processes with `argument`, without shells that only quote it. */
export function runningWith(argument: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const ended = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return !ended && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch {
      return false;
    }
  });
}
