/**
 * What every run of tests needs, whatever it runs: the build that tests of programs and of workers start, and a folder in memory for
 * the files of tests, where the machine has room. On a virtual disk these files cost ten times as much.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const memory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;
const builds = ['build.mjs', 'build-local-service.mjs'].map((name) =>
  fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url)),
);
/** Projects have modules of their own, and share the environment. */
const prepared = 'SANDFLOW_TESTS_PREPARED';

export default function setup(): void {
  if (process.env[prepared] !== undefined) return;
  process.env[prepared] = 'yes';
  for (const build of builds) {
    const { status } = spawnSync(process.execPath, [build, '--if-changed'], { stdio: 'inherit' });
    if (status !== 0) throw new Error('The build failed.');
  }
  const folder = folderInMemory();
  if (folder === undefined) return;
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** @returns undefined if the memory of this machine has no room, or runs no programs */
function folderInMemory(): string | undefined {
  const folder = join(memory, `sandflow-${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < neededBytes) return undefined;
    removeAbandoned();
    mkdirSync(folder);
    // Like the system's own, since some tests run programs as other users.
    chmodSync(folder, 0o1777);
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    rmSync(program);
    return folder;
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** A run that was killed has left its folder. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    const pid = /^sandflow-(\d{1,10})$/.exec(name)?.[1];
    if (pid === undefined || !hasEnded(Number(pid))) continue;
    try {
      rmSync(join(memory, name), { recursive: true, force: true });
    } catch {
      // It is another user's.
    }
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
