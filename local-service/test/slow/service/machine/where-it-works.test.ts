/**
 * The table "Where it works" of docs/local-service.md, each column tried on this machine. Tier: all, about 30 s. It needs
 * root, bubblewrap, slirp4netns, the packages of the desktop, xterm, and podman with runc; what is missing skips its column.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, it, onTestFinished, type TestContext } from 'vitest';
import { otherUser, requireRoot } from '../../../../../test/setup/other-user.js';
import { repository } from '../../../../../test/unit/house/source-imports.js';
import { withOwnTun } from '../../../security/attacked-host.js';

const execute = promisify(execFile);
const probes = join(repository, 'local-service/test/slow/service/machine/probes.mjs');

const isolating = ['bwrap', 'slirp4netns', 'git', 'perl', 'Xvnc', 'openbox', 'xterm'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandflow-probes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function requirePrograms(context: TestContext, ...names: readonly string[]): void {
  for (const name of names) {
    try {
      execFileSync('/bin/sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    } catch {
      context.skip(`${name} is not installed`);
    }
  }
}

/** The column of the table, without its empty first row, as the probes print it. */
function column(title: string): Readonly<Record<string, string>> {
  const page = readFileSync(join(repository, 'docs/local-service.md'), 'utf8');
  const section = page.slice(page.indexOf('\n## Where it works\n'));
  const rows = section
    .slice(section.indexOf('\n| '), section.indexOf('\n\n', section.indexOf('\n| ')))
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const at = rows[0]?.indexOf(title) ?? -1;
  expect(at, `a column ${title}`).toBeGreaterThan(0);
  return Object.fromEntries(rows.slice(2).map((cells) => [cells[0] ?? '', cells[at] ?? '']));
}

function expectColumn(title: string, stdout: string): void {
  expect(JSON.parse(stdout)).toEqual(column(title));
}

it('as root', async (context) => {
  requireRoot(context);
  requirePrograms(context, ...isolating);
  expectColumn('as root', (await execute(process.execPath, [probes, folder])).stdout);
});

it('as a plain user', async (context) => {
  requireRoot(context);
  requirePrograms(context, ...isolating);
  chownSync(folder, otherUser, otherUser);
  const asOther = ['setpriv', '--reuid', `${otherUser}`, '--regid', `${otherUser}`, '--clear-groups'];
  const [program, ...args] = [...withOwnTun, ...asOther, process.execPath, probes, folder];
  const env = { PATH: process.env.PATH ?? '', HOME: folder };
  const { stdout, stderr } = await execute(program, args, { env, cwd: '/' });
  expect(stderr).toBe('');
  expectColumn('as a plain user', stdout);
});

it('without bubblewrap', async (context) => {
  requirePrograms(context, 'git', 'perl');
  expectColumn('without bubblewrap', (await execute(process.execPath, [probes, folder, 'plain'])).stdout);
});

it('in a container with the restrictions that an engine sets by default', async (context) => {
  requireRoot(context);
  requirePrograms(context, 'podman', 'runc', 'git', 'perl');
  const at = (name: string): string => join(folder, name);
  for (const name of ['root', 'run', 'tmp']) mkdirSync(at(name));
  writeFileSync(
    at('storage.conf'),
    `[storage]\ndriver = "overlay"\ngraphroot = "${at('root')}"\nrunroot = "${at('run')}"\n`,
  );
  // The limits, because those of the engine may be above those of this machine.
  const limits = 'default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]';
  const engine = `runtime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\ntmp_dir = "${at('tmp')}"`;
  writeFileSync(at('containers.conf'), `[containers]\n${limits}\n[engine]\n${engine}\n`);
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: at('storage.conf'), CONTAINERS_CONF: at('containers.conf') };
  // The files of this machine, under a layer of the container's own, play its image. So bubblewrap is there, and refused.
  const options = ['--rm', '--network', 'none', '--user', '1000:1000', '--tmpfs', '/probes:rw,mode=1777'];
  const image = ['--volume', `${repository}:${repository}:ro`, '--env', 'HOME=/probes', '--rootfs', '/:O'];
  const program = [process.execPath, probes, '/probes'];
  const { stdout } = await execute('podman', ['run', ...options, ...image, ...program], { env });
  expectColumn('in a container', stdout);
});
