import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { requireLoopback } from '../../../src/os/require-loopback.js';

const sentence = /The loopback network of this machine is down \(E[A-Z]+ at \S+\), and .*: .*\.$/m;

it('accepts the loopback network of this machine', () => requireLoopback());

it('says in one sentence that this machine has no such address', () =>
  expect(requireLoopback('203.0.113.1')).rejects.toMatchObject({
    code: 'loopback_down',
    message: expect.stringMatching(sentence),
  }));

/** A new network namespace, in which everything is down. */
const unshare = ['--user', '--map-root-user', '--net'];
it.skipIf(spawnSync('unshare', [...unshare, 'true']).status !== 0)('says so where nothing is up', () => {
  const main = new URL('../../../dist/src/os/require-loopback.js', import.meta.url);
  const script = `import { requireLoopback } from ${JSON.stringify(main.href)};
    await requireLoopback().catch(({ message }) => console.log(message));`;
  const { stdout } = spawnSync('unshare', [...unshare, process.execPath, '--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(sentence);
  expect(stdout).toContain('`ip link set lo up`');
});
