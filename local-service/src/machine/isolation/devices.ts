/**
 * Devices for the sandboxes of a service that runs as root. To the kernel, such a sandbox is root even without
 * capabilities, so it owns the machine's devices: it could make /dev/null inaccessible to everybody. It does not own
 * the devices here.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../disk/copy-tree.js';
import { runProgram } from '../program.js';

/** All devices that bubblewrap puts into /dev, with their numbers in Linux. */
const devices = {
  null: [1, 3],
  zero: [1, 5],
  full: [1, 7],
  random: [1, 8],
  urandom: [1, 9],
  tty: [5, 0],
} as const;

/** The conventional id of the user and group `nobody`. No sandbox runs under it. */
const nobodyUserId = 65_534;

/**
 * Creates the devices in `folder`, which it empties first.
 * @returns bubblewrap's arguments; undefined if this user may not create devices
 */
export async function makeDevices(folder: string): Promise<string[] | undefined> {
  await removeTree(folder);
  await mkdir(folder, { mode: 0o700 });
  const args: string[] = [];
  for (const [name, [major, minor]] of Object.entries(devices)) {
    const file = join(folder, name);
    const made = await runProgram('mknod', ['-m', '666', file, 'c', String(major), String(minor)]);
    const given = await runProgram('chown', [`${nobodyUserId}:${nobodyUserId}`, file]);
    if (made.exitCode !== 0 || given.exitCode !== 0) return undefined;
    args.push('--dev-bind', file, `/dev/${name}`);
  }
  return args;
}
