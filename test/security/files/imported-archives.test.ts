/** Archives that no export has created: each is refused, and the service continues unchanged. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, link, mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { emptyDirectory, startService } from '../../local-service/service-under-test.js';
import { descendantsOf, isAlive } from '../sandbox/descendants.js';

const run = promisify(execFile);
const mib = 1024 ** 2;

let exported: Buffer;
let scratch: string;
const id = 'bx_efgh2345';

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sandflow-archives-'));
});
afterAll(async () => await rm(scratch, { recursive: true, force: true }));

async function exportedState(): Promise<Buffer> {
  if (exported !== undefined) return exported;
  const from = await startService();
  await from.service.seed({ version: 1, sandboxes: [{ id, name: 'of the export', files: { a: 'text' } }] });
  exported = await buffer(await from.service.export());
  return exported;
}

/** The export of a service with one sandbox, unpacked into a folder, changed by `change`, and packed again. */
async function archiveWith(
  change: (folder: string) => Promise<unknown>,
  options: readonly string[] = [],
): Promise<Buffer> {
  const folder = await mkdtemp(join(scratch, 'state-'));
  const archive = `${folder}.tar`;
  await writeFile(`${archive}.gz`, await exportedState());
  await run('tar', ['-xzf', `${archive}.gz`, '-C', folder]);
  await change(folder);
  await run('tar', ['-czf', archive, ...options, '-C', folder, '.']);
  return await readFile(archive);
}

const replaced = (name: string, by: (path: string) => Promise<unknown>) => async (folder: string) => {
  await rm(join(folder, name));
  await by(join(folder, name));
};
const disk = (folder: string): string => join(folder, 'machines', 'disks', id);

async function sparseFile(path: string): Promise<void> {
  const file = await open(path, 'w');
  await file.truncate(100 * 1024 ** 3);
  await file.close();
}

function withSchema(statement: string) {
  return async (folder: string) => {
    const sql = new Libsql(join(folder, 'service.db'));
    sql.exec(statement);
    sql.close();
  };
}

const isRoot = process.getuid?.() === 0;

describe('an archive is refused', () => {
  it.each<[string, (folder: string) => Promise<unknown>, (readonly string[])?]>([
    ['whose manifest is a pipe', replaced('manifest.json', (path) => run('mkfifo', [path]))],
    ['whose manifest is a link to an endless device', replaced('manifest.json', (path) => symlink('/dev/zero', path))],
    ['whose manifest is too long', (folder) => writeFile(join(folder, 'manifest.json'), ' '.repeat(mib))],
    ['whose database is a pipe', replaced('service.db', (path) => run('mkfifo', [path]))],
    ['whose database is a link', replaced('service.db', (path) => symlink('/etc/passwd', path))],
    ['with a pipe beside the disks', (folder) => run('mkfifo', [join(folder, 'machines', 'disks', 'bx_pipe2345')])],
    ['with a name of the database on a disk', (folder) => link(join(folder, 'service.db'), join(disk(folder), 'name'))],
    [
      'with a file that two disks share',
      async (folder) => {
        await mkdir(join(folder, 'machines', 'disks', 'bx_other234'));
        await link(join(disk(folder), 'a'), join(folder, 'machines', 'disks', 'bx_other234', 'a'));
      },
    ],
    ['with absolute names', async () => undefined, ['-P', '--transform', 's,^\\./machines/d,/tmp/sandflow-out/d,']],
    ['with names that lead out', async () => undefined, ['-P', '--transform', 's,^\\./machines,../../machines,']],
    ['with a file that is mostly a hole', (folder) => sparseFile(join(disk(folder), 'sparse')), ['--sparse']],
    ['whose database has a trigger', withSchema('CREATE TRIGGER t DELETE ON sandboxes BEGIN SELECT 1; END')],
    [
      'whose database has a view that never ends',
      withSchema(
        'DROP TABLE work; CREATE VIEW work AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n',
      ),
    ],
  ])('%s', async (_what, change, options) => {
    const under = await startService();
    const archive = await archiveWith(change, options);
    // As many as Node's threads for files: each that waits for a pipe would be lost.
    for (let time = 1; time <= 4; time += 1) {
      await expect(under.service.import(Readable.from([archive]))).rejects.toMatchObject({ code: 'bad_archive' });
    }
    await under.ready();
  });

  it.skipIf(!isRoot)('with a device on a disk, which only root can create', async () => {
    const under = await startService();
    const archive = await archiveWith((folder) => run('mknod', [join(disk(folder), 'zero'), 'c', '1', '5']));
    await expect(under.service.import(Readable.from([archive]))).rejects.toMatchObject({ code: 'bad_archive' });
  });

  it('that unpacks to far more than its size, while it is unpacked', async () => {
    const under = await startService();
    const piece = gzipSync(Buffer.alloc(64 * mib));
    let sent = 0;
    // A gzip file may have several members. The reader would continue for as long as it gets data.
    const bomb = Readable.from(
      (async function* () {
        yield gzipSync(tarHeader('machines/disks/bomb', 0o77777777777));
        for (; sent < 1_000; sent += 1) yield piece;
      })(),
    );
    await expect(under.service.import(bomb)).rejects.toMatchObject({
      code: 'bad_archive',
      message: expect.stringMatching(/200 times/),
    });
    expect(sent).toBeLessThan(20);
  });

  it.each([
    ['entries', { maxEntries: 8 }, /more than 8 entries/],
    ['levels', { maxDepth: 6 }, /more than 6 levels deep/],
    ['bytes', { maxBytes: 1_000 }, /more than 1000 bytes/],
  ])('with more %s than the limit', async (_what, importLimits, message) => {
    const under = await startService({ importLimits });
    const archive = await archiveWith(async (folder) => {
      await mkdir(join(disk(folder), ...'deep/er/still'.split('/')), { recursive: true });
      for (let index = 0; index < 10; index += 1) await writeFile(join(disk(folder), String(index)), '');
    });
    await expect(under.service.import(Readable.from([archive]))).rejects.toMatchObject({
      code: 'bad_archive',
      message: expect.stringMatching(message),
    });
  });
});

describe('an import', () => {
  it('accepts a disk with pipes, as any sandbox can create, and waits for none', async () => {
    const under = await startService();
    await under.service.import(
      Readable.from([await archiveWith((folder) => run('mkfifo', [join(disk(folder), 'pipe')]))]),
    );
    for (let time = 1; time <= 5; time += 1) {
      expect((await under.call('GET', `/sandboxes/${id}/files?path=pipe`)).status).toBe(400);
    }
    expect((await under.call('GET', `/sandboxes/${id}/files?path=a`)).body.content).toBe('text');
  });

  it('opens what it unpacks to nobody else, whatever mode the archive gives to its own folder', async () => {
    const directory = await emptyDirectory();
    // As of a service that a program of yours holds in a folder of its own.
    await chmod(directory, 0o755);
    const under = await startService({ directory });
    const archive = await archiveWith((folder) => chmod(folder, 0o777));
    const upload = new PassThrough();
    // Without its last bytes, `tar` has all entries, and the import waits.
    upload.write(archive.subarray(0, -8));
    const importing = under.service.import(upload);
    importing.catch(() => undefined);
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    const incoming = async () => {
      const name = (await readdir(directory)).find((each) => each.startsWith('incoming-')) ?? 'none yet';
      return [join(directory, name), join(directory, name, 'state')];
    };
    const modes = async () => await Promise.all((await incoming()).map((path) => modeOf(path).catch(() => undefined)));
    await expect.poll(modes).toContain(0o777);
    expect((await modes())[0]).toBe(0o700);

    const program = 'my @seen; until (@seen = stat "import") {} printf "%o", $seen[2] & 0777';
    const decided = spawn('perl', ['-e', `$| = 1; print "begun "; ${program}`], { cwd: directory });
    onTestFinished(() => void decided.kill('SIGKILL'));
    const seen = text(decided.stdout);
    await once(decided.stdout, 'readable');
    upload.end(archive.subarray(-8));
    await importing;
    decided.kill('SIGKILL');
    expect(await seen).toBe('begun 700');
  });

  it.each(['disks', 'snapshots'])(
    'opens its %s to nobody else, whatever mode the archive gives to them',
    async (name) => {
      const directory = await emptyDirectory();
      const under = await startService({ directory });
      const archive = await archiveWith((folder) => chmod(join(folder, 'machines', name), 0o777));
      await under.service.import(Readable.from([archive]));
      expect((await stat(join(directory, 'machines', name))).mode & 0o777).toBe(0o700);
    },
  );

  it('in progress ends with the service', async () => {
    const under = await startService({ directory: await emptyDirectory() });
    const upload = new PassThrough();
    upload.write((await exportedState()).subarray(0, 100));
    const importing = under.service.import(upload);
    const refused = expect(importing).rejects.toThrow();
    await under.service.close();
    await refused;
  });

  it('whose `tar` does not go on kills it at the end of the service, and leaves nothing', async () => {
    const directory = await emptyDirectory();
    const under = await startService({ directory });
    const upload = new PassThrough();
    // `tar` waits for the rest of an archive that breaks off.
    upload.write(gzipSync(gunzipSync(await exportedState()).subarray(0, 4096)).subarray(0, -8));
    const refused = expect(under.service.import(upload)).rejects.toThrow();
    const programOf = (each: string) => readFile(`/proc/${pidOf(each)}/comm`, 'utf8').catch(() => 'ended');
    const begun = async () => {
      const all = descendantsOf(process.pid);
      const programs = await Promise.all(all.map(programOf));
      return all.filter((_, at) => programs[at] === 'tar\n');
    };
    await expect.poll(begun).toHaveLength(1);
    const [tar = ''] = await begun();
    // A stopped program reads the end of its input as little as one that is busy with an archive made for that.
    process.kill(pidOf(tar), 'SIGSTOP');
    onTestFinished(() => void (isAlive(tar) && process.kill(pidOf(tar), 'SIGKILL')));
    await under.service.close();
    await refused;
    expect(isAlive(tar)).toBe(false);
    expect((await readdir(directory)).filter((name) => name.startsWith('incoming-'))).toEqual([]);
  });

  it.skipIf(!isRoot)('gives nothing to the users whom the archive names as owners', async () => {
    const directory = await emptyDirectory();
    const under = await startService({ directory });
    const archive = await archiveWith(async () => undefined, ['--owner=stranger:12345', '--group=stranger:12345']);
    await under.service.import(Readable.from([archive]));
    const places = ['machines/disks', 'machines/snapshots', `machines/disks/${id}`, `machines/disks/${id}/a`];
    for (const place of places) {
      expect(await stat(join(directory, place)), place).toMatchObject({ uid: 0, gid: 0 });
    }
  });
});

const pidOf = (process: string): number => Number(process.split(' ')[0]);

/** The header of a file according to POSIX. */
function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
