/** A sandbox that is so full of processes that it cannot start a command. */
import { execFileSync, spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMachineHost } from '../../../src/machine/index.js';
import { initScript } from '../../../src/machine/running/init.js';
import { ownSandboxId, temporaryDirectory, usableIsolations } from './machine-fixture.js';

it('says at once that a program could not be started', async () => {
  const folder = await temporaryDirectory();
  await writeFile(join(folder, 'setsid'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await mkdir(join(folder, '7'));
  const status = join(folder, '7/status');
  execFileSync('mkfifo', [status]);
  const init = spawn('/bin/sh', ['-c', initScript(folder)], { env: { PATH: `${folder}:${process.env.PATH}` } });
  onTestFinished(() => void init.kill('SIGKILL'));
  init.stdin.write('7\n');
  const [report] = await createReadStream(status, 'latin1').toArray();
  expect(report).toBe('\n');
});

/** Fills its sandbox but for `free` processes, and says so in the file `full`. */
const fill = (free: number): string => `exec perl -e '
  my @all; while (defined(my $pid = fork)) { if (!$pid) { sleep 1000 while 1 } push @all, $pid }
  for (1 .. ${free}) { my $pid = pop @all; kill KILL => $pid; waitpid $pid, 0 }
  open(my $f, ">", "full"); close $f; sleep 1000 while 1'`;

it.runIf(usableIsolations.includes('bubblewrap')).each([0, 1])('starts again with room for %i more', async (free) => {
  const size = { vcpu: 0.125, memoryGB: 1 };
  const directory = await temporaryDirectory();
  const host = await createMachineHost({ directory, isolation: 'bubblewrap', sizeOf: () => size });
  onTestFinished(() => host.close());
  await host.createDisk(ownSandboxId);
  if (host.description.limits.processes === 'none') return;
  const filled = host.run(ownSandboxId, { command: fill(free) });
  const isFull = () => host.readFile(ownSandboxId, 'full', 10).then(Boolean, () => false);
  await expect.poll(isFull).toBe(true);
  expect(await host.run(ownSandboxId, { command: 'echo works' })).toMatchObject({ exitCode: 0, stdout: 'works\n' });
  // By rlimits, the first program is not one of those that are counted.
  await host.close();
  expect(await filled).toMatchObject({ exitCode: null });
});
