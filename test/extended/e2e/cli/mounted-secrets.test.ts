/** Secrets as Kubernetes and Docker mount them, read by a user that is not root. Tier: processes, about 3 s. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newKeyLine } from '../../../../src/encryption/index.js';
import { built, otherUser, requireRoot, runAsOther, sharedGroup } from '../../../setup/other-user.js';

let around: string;
beforeEach((context) => {
  requireRoot(context);
  around = mkdtempSync(join(tmpdir(), 'sandflow-mounted-'));
  chmodSync(around, 0o755);
});
afterEach(() => rmSync(around, { recursive: true, force: true }));

const texts = {
  'api-key': 'key_mounted\n',
  'webhook-secrets': 'whsec_mounted\n',
  'encryption-keys': `${newKeyLine('a')}\n`,
  'notify-secrets': `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`,
} as const;

/** Reads each file with the function that commands use. Prints what each read said. */
const reads = `
const [folder] = process.argv.slice(1);
const from = (path) => import(${JSON.stringify(built(''))} + '/' + path);
const { apiKeyOf } = await from('src/os/key-file.js');
const { readSecrets } = await from('src/bridge/index.js');
const { readKeyRing } = await from('src/encryption/index.js');
const { createNotifySecrets } = await from('src/notify/index.js');
const readers = {
  'api-key': (apiKeyFile) => apiKeyOf({ apiKeyFile }),
  'webhook-secrets': readSecrets,
  'encryption-keys': readKeyRing,
  'notify-secrets': (file) => createNotifySecrets(file)(),
};
const said = {};
for (const [name, read] of Object.entries(readers)) {
  said[name] = await read(folder + '/' + name).then(() => 'read', ({ code, message }) => code + ': ' + message);
}
console.log(JSON.stringify(said));
`;

async function readAll(folder: string, groups: readonly number[] = [sharedGroup]): Promise<Record<string, string>> {
  const { stdout, stderr } = await runAsOther(['--input-type=module', '--eval', reads, folder], { groups });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** Writes the files, all with this owner and mode. */
function writeAll(folder: string, { uid, gid, mode }: { uid: number; gid: number; mode: number }): void {
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, name);
    writeFileSync(path, text);
    chownSync(path, uid, gid);
    chmodSync(path, mode);
  }
}

const allRead = Object.fromEntries(Object.keys(texts).map((name) => [name, 'read']));

it.each([
  ['root, read by their group', { uid: 0, gid: sharedGroup, mode: 0o440 }],
  ['root, written by root and read by their group', { uid: 0, gid: sharedGroup, mode: 0o640 }],
  ['the user, read by their group', { uid: otherUser, gid: sharedGroup, mode: 0o440 }],
  ['the user, read by nobody else', { uid: otherUser, gid: otherUser, mode: 0o400 }],
])('secret files of %s are read', async (_, owned) => {
  writeAll(around, owned);
  expect(await readAll(around)).toEqual(allRead);
});

it('secrets in a volume of Kubernetes are read: links in a folder that everybody may write', async () => {
  chownSync(around, 0, sharedGroup);
  chmodSync(around, 0o3777);
  const version = join(around, '..2026_11_26_18_00_00.1234567890');
  mkdirSync(version);
  chownSync(version, 0, sharedGroup);
  chmodSync(version, 0o2755);
  writeAll(version, { uid: 0, gid: sharedGroup, mode: 0o440 });
  symlinkSync('..2026_11_26_18_00_00.1234567890', join(around, '..data'));
  for (const name of Object.keys(texts)) symlinkSync(`..data/${name}`, join(around, name));
  expect(await readAll(around)).toEqual(allRead);
});

it('secret files that the user may not read are refused, with their owner and what to run', async () => {
  writeAll(around, { uid: 0, gid: 0, mode: 0o400 });
  const said = await readAll(around, []);
  for (const name of Object.keys(texts)) {
    expect(said[name]).toContain(`${join(around, name)}, `);
    expect(said[name]).toContain(
      `cannot be read by user ${otherUser}: it belongs to user 0 and group 0, with mode 400`,
    );
    expect(said[name]).toContain(`Run \`chown ${otherUser} ${join(around, name)}\`, or \`chgrp ${otherUser} `);
  }
});

it.each([
  ['that everybody may read', { uid: 0, gid: 0, mode: 0o444 }, /may be read by everybody: run `chmod 600 .*chmod 440/],
  ['that their group may write', { uid: 0, gid: sharedGroup, mode: 0o660 }, /may be written by others.*chmod 600/],
  ['of a third user', { uid: 999, gid: sharedGroup, mode: 0o440 }, /belongs to user 999, and this is user 10001234/],
])('keys of encryption and of notifications %s are refused', async (_, owned, why) => {
  writeAll(around, owned);
  const said = await readAll(around);
  for (const name of ['encryption-keys', 'notify-secrets']) {
    expect(said[name]).toMatch(/^file_not_trusted: /);
    expect(said[name]).toMatch(why);
  }
});
