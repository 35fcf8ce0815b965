/** What a service that is killed was copying. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { machine, ownSandboxId, runningWith } from './machine-fixture.js';

const childScript = fileURLToPath(new URL('./copying-child.mjs', import.meta.url));
const snapshotId = `snap_${'0'.repeat(24)}`;

/** The pids of the `cp` that copy this folder. */
function copiesOf(folder: string): number[] {
  return runningWith(`${folder}/.`).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('cp\0');
    } catch {
      return false;
    }
  });
}

it.runIf(process.platform === 'linux')('ends with it, so that the next service can remove the rest', async () => {
  const { host, directory } = await machine('plain');
  await host.run(ownSandboxId, { command: 'seq 2000 | xargs touch' });
  await host.takeSnapshot(ownSandboxId, snapshotId);
  const snapshot = join(directory, 'snapshots', snapshotId);
  const child = spawn(process.execPath, [childScript, directory, 'bx_efgh2345', snapshotId], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => {
    for (const pid of copiesOf(snapshot)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
  });
  // A copy that is stopped does not end by itself before the kill.
  const stopped = (): boolean => {
    try {
      const [pid] = copiesOf(snapshot);
      return pid !== undefined && process.kill(pid, 'SIGSTOP');
    } catch {
      return false;
    }
  };
  await expect.poll(stopped, { interval: 1 }).toBe(true);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  await expect.poll(() => copiesOf(snapshot)).toEqual([]);
  await host.recover();
  expect(readdirSync(join(directory, 'unfinished'))).toEqual([]);
});
