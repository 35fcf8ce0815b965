import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ensureKeyFile, readJsonFile, readPrivateFile } from '../../../src/os/private-file.js';
import { checkTrustedFolder, prepareTrustedFolder } from '../../../src/os/trusted-folder.js';
import { findTemporalServer } from '../../../src/temporal-server/find.js';

/** Only root can change the owner of a file. */
const asRoot = it.skipIf(process.getuid?.() !== 0);
const stranger = 12_345;

let around: string;
let home: string;
const prepare = () => prepareTrustedFolder({ path: home, setting: 'SANDFLOW_HOME' });
const modeOf = (path: string) => statSync(path).mode & 0o777;
const refused = (message: RegExp) => ({ code: 'home_not_trusted', message: expect.stringMatching(message) });

beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), 'sandflow-trust-'));
  home = join(around, 'home');
  mkdirSync(home, { mode: 0o700 });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(around, { recursive: true, force: true });
});

describe('a home', () => {
  it('that others may read is closed to them', async () => {
    chmodSync(home, 0o755);
    writeFileSync(join(home, 'temporal.db'), '', { mode: 0o644 });
    await prepare();
    expect(modeOf(home)).toBe(0o700);
  });

  it.each([0o777, 0o770, 0o702, 0o1777])(
    'that others may write, with mode %o, is refused and unchanged',
    async (mode) => {
      chmodSync(home, mode);
      await expect(prepare()).rejects.toMatchObject(refused(/others may write to it.*chmod 700/));
      expect(statSync(home).mode & 0o7777).toBe(mode);
    },
  );

  it('in a folder in which others may replace it is refused, even before it is created', async () => {
    chmodSync(around, 0o777);
    await expect(prepare()).rejects.toMatchObject(refused(/on its path, can be written by everybody/));
    home = join(around, 'new', 'home');
    await expect(prepare()).rejects.toMatchObject(refused(/on its path/));
    chmodSync(around, 0o1777);
    await prepare();
    expect(modeOf(home)).toBe(0o700);
  });

  it('may be a link of the user to a directory of the user, and is checked by its target', async () => {
    const link = join(around, 'link');
    symlinkSync('home', link);
    home = link;
    await prepare();
    chmodSync(home, 0o777);
    await expect(prepare()).rejects.toMatchObject(refused(/others may write to it/));
  });

  it('that others could enter is refused if they may write a file in it', async () => {
    chmodSync(home, 0o755);
    writeFileSync(join(home, 'supervisor.json'), '{}');
    chmodSync(join(home, 'supervisor.json'), 0o666);
    await expect(prepare()).rejects.toMatchObject(refused(/others may write .*supervisor\.json/));
  });

  it('with a link to a file that others may write is refused', async () => {
    writeFileSync(join(around, 'loose'), '');
    chmodSync(join(around, 'loose'), 0o666);
    symlinkSync(join(around, 'loose'), join(home, 'local-api-key'));
    await expect(prepare()).rejects.toMatchObject(refused(/link to a file that others may write to/));
  });

  asRoot('in a folder of a further group is accepted if nobody else belongs to the group', async () => {
    // As the volume of a container: nobody knows the group.
    const [volume, known] = [54_321, 0];
    chownSync(around, 0, volume);
    chmodSync(around, 0o2770);
    await expect(prepare()).rejects.toMatchObject(refused(/can be written by group 54321/));
    vi.spyOn(process, 'getgroups').mockReturnValue([known, volume]);
    await prepare();
    home = join(around, 'new', 'home');
    await prepare();
    chmodSync(around, 0o2777);
    await expect(prepare()).rejects.toMatchObject(refused(/can be written by everybody/));
  });

  asRoot.each([
    ['another one', 'echo staff:x:54321:root,alice', false],
    ['only this user', 'echo staff:x:54321:root', true],
    ['an account as its first group', 'test $1 = group && exit 2; echo bob:x:1001:54321::/home/bob:/bin/sh', false],
    ['another one by a second name', 'test -n "$2" && echo a:x:54321: || echo "a:x:54321:\nb:x:54321:alice"', false],
    ['nobody can say', 'exit 3', false],
  ])('in a folder of a further group to which belongs %s', async (_, answer, isAccepted) => {
    writeFileSync(join(around, 'getent'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${around}:${process.env.PATH}`);
    vi.spyOn(process, 'getgroups').mockReturnValue([54_321]);
    chownSync(around, 0, 54_321);
    chmodSync(around, 0o770);
    const preparing = prepare();
    if (isAccepted) await preparing;
    else await expect(preparing).rejects.toMatchObject(refused(/can be written by group 54321/));
  });

  asRoot('of another user is refused, also for root', async () => {
    chownSync(home, stranger, stranger);
    await expect(prepare()).rejects.toMatchObject(refused(/belongs to user 12345, and this is user 0.*sudo/));
    chownSync(home, 0, 0);
    chownSync(around, stranger, stranger);
    await expect(prepare()).rejects.toMatchObject(refused(/which is on its path, belongs to user 12345/));
  });

  asRoot.each(['supervisor.json', 'local-api-key', 'webhook-secrets', 'ports.json', 'supervisor.lock', 'temporal.db'])(
    'in which somebody else has put %s is refused, whether a file, a link or a link to another file',
    async (name) => {
      const planted = join(home, name);
      writeFileSync(planted, '{}', { mode: 0o600 });
      chownSync(planted, stranger, stranger);
      await expect(prepare()).rejects.toMatchObject(refused(/belongs to user 12345/));
      rmSync(planted);
      writeFileSync(join(around, 'mine'), 'key', { mode: 0o600 });
      symlinkSync(join(around, 'mine'), planted);
      lchownSync(planted, stranger, stranger);
      await expect(prepare()).rejects.toMatchObject(refused(/belongs to user 12345/));
      rmSync(planted);
      chownSync(join(around, 'mine'), stranger, stranger);
      symlinkSync(join(around, 'mine'), planted);
      await expect(prepare()).rejects.toMatchObject(refused(/link to a file of user 12345/));
    },
  );
});

describe('a private file', () => {
  it('that others may read is closed to them, and one that they may write is refused', async () => {
    const file = join(home, 'local-api-key');
    writeFileSync(file, 'key\n', { mode: 0o644 });
    expect(await ensureKeyFile(file)).toBe('key');
    expect(modeOf(file)).toBe(0o600);
    chmodSync(file, 0o622);
    await expect(ensureKeyFile(file)).rejects.toMatchObject({ code: 'file_not_trusted' });
    await expect(readJsonFile(file)).rejects.toMatchObject({ code: 'file_not_trusted' });
  });

  it('is a file, not a directory or a device', async () => {
    mkdirSync(join(home, 'key'));
    await expect(readPrivateFile(join(home, 'key'))).rejects.toMatchObject({ code: 'file_not_trusted' });
    await expect(readPrivateFile('/dev/null')).rejects.toMatchObject({ code: 'file_not_trusted' });
  });

  asRoot('of somebody else is refused', async () => {
    const file = join(home, 'supervisor.json');
    writeFileSync(file, '{}', { mode: 0o600 });
    chownSync(file, stranger, stranger);
    await expect(readJsonFile(file)).rejects.toMatchObject({ code: 'file_not_trusted' });
  });
});

describe('a cache with a Temporal server', () => {
  it('that others may write is refused before anything in it runs', async () => {
    const version = join(home, 'temporal', '1.5.1');
    mkdirSync(version, { recursive: true });
    const ran = join(around, 'ran');
    writeFileSync(join(version, 'temporal'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    for (const open of [version, join(home, 'temporal')]) {
      chmodSync(open, 0o777);
      const finding = findTemporalServer({ cacheDirectory: home, installed: undefined });
      await expect(finding).rejects.toMatchObject({
        code: 'home_not_trusted',
        message: expect.stringContaining('SANDFLOW_CACHE'),
      });
      chmodSync(open, 0o700);
    }
    expect(() => statSync(ran)).toThrow('ENOENT');
  });

  asRoot('of another user is refused', async () => {
    chownSync(home, stranger, stranger);
    await expect(findTemporalServer({ cacheDirectory: home, installed: undefined })).rejects.toMatchObject({
      code: 'home_not_trusted',
    });
    await expect(checkTrustedFolder({ path: join(home, 'x'), setting: 'SANDFLOW_CACHE' })).rejects.toMatchObject({
      code: 'home_not_trusted',
    });
  });
});
