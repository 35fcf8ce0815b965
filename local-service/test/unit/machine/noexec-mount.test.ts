import { expect, it } from 'vitest';
import { noexecMount } from '../../../src/machine/isolation/noexec-mount.js';

/** Lines of /proc/self/mountinfo. */
const mounts = (...rows: readonly (readonly [at: string, options: string])[]) =>
  rows.map(([at, options], i) => `${i + 20} 1 0:${i} / ${at} ${options} shared:1 - tmpfs tmpfs rw,noexec\n`).join('');
const root = ['/', 'rw,relatime'] as const;

it.each<[string, string, string | undefined]>([
  ['of the folder', mounts(root, ['/home/h', 'rw,nosuid,noexec']), '/home/h'],
  ['above it', mounts(root, ['/home', 'noexec']), '/home'],
  ['of the root', mounts(['/', 'ro,noexec']), '/'],
  ['that a mount with exec covers', mounts(root, ['/home', 'noexec'], ['/home/h', 'rw']), undefined],
  ['over one with exec', mounts(root, ['/home/h', 'rw'], ['/home/h', 'rw,noexec']), '/home/h'],
  ['below one with exec at the same place', mounts(root, ['/home/h', 'noexec'], ['/home/h', 'rw']), undefined],
  ['of a folder beside it', mounts(root, ['/home/h/d2', 'noexec'], ['/home/h/data-2', 'noexec']), undefined],
  ['below it', mounts(root, ['/home/h/data/x', 'noexec']), undefined],
  ['with other limits only', mounts(root, ['/home', 'rw,nosuid,nodev,noatime,ro']), undefined],
  ['of which the file system only says so', mounts(root), undefined],
  ['of a system without the file', '', undefined],
])('finds the noexec mount %s', (_, text, at) => {
  expect(noexecMount('/home/h/data', text)).toBe(at);
});

it('reads the spaces and line ends of a place', () => {
  expect(noexecMount('/my disk\n/data', mounts(root, ['/my\\040disk\\012', 'noexec']))).toBe('/my disk\n');
});
