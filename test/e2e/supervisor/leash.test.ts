import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../setup/stack-harness.js';

const compiled = fileURLToPath(new URL('../../../dist/src/os/spawn-bound-to-parent.js', import.meta.url));
const parentProgram = `
import(process.argv[1]).then(({ spawnBoundToParent }) => {
  const child = spawnBoundToParent(process.argv[3], process.argv.slice(4), { leash: process.argv[2], stdio: 'ignore' });
  child.once('exit', (code) => console.log('ended ' + code));
  console.log(child.pid);
  setInterval(() => undefined, 1000);
});`;

/** A parent with one bound child; `lines` are the output of the parent. */
function startParent(leash: string, command: readonly string[]) {
  const parent = spawn(process.execPath, ['-e', parentProgram, compiled, leash, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  parent.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return { parent, lines: () => output.trim().split('\n').filter(Boolean) };
}

describe.each(['kernel', 'pipe'])('a child process (%s)', (leash) => {
  it('dies with its parent, even if the parent is killed', async () => {
    const { parent, lines } = startParent(leash, ['sleep', '600']);
    await expect.poll(() => lines().length).toBe(1);
    const pid = Number(lines()[0]);
    await expect.poll(() => isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('can end before its parent, which continues', async () => {
    const { parent, lines } = startParent(leash, ['sh', '-c', 'exit 7']);
    await expect.poll(lines).toContain('ended 7');
    expect(parent.exitCode).toBeNull();
    parent.kill('SIGKILL');
  });

  it('dies if its parent is killed while starting it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { parent, lines } = startParent(leash, ['sleep', '600']);
      await new Promise((resolve) => parent.stdout.once('data', resolve));
      parent.kill('SIGKILL');
      const pid = Number(lines()[0]);
      await expect.poll(() => isAlive(pid)).toBe(false);
    }
  });
});
