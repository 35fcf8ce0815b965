/** The two packages as somebody installs them: packed, and installed from their tarballs in an empty folder. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../../unit/house/source-imports.js';

const execute = promisify(execFile);

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface InstalledPackage {
  /** The folder of the project that has installed sandflow. */
  readonly folder: string;
  readonly tarball: string;
  /** The tarball of the local service. */
  readonly localTarball: string;
  /** The files of sandflow. */
  readonly files: readonly PackedFile[];
  /** What npm printed on stderr while it installed. */
  readonly warnings: string;
  remove(): void;
}

/** npm as a newcomer runs it: none of the settings of the `npm test` that runs the tests. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || /^npm_config_(cache|registry)$/i.test(name)),
);

/**
 * Scripts are ignored by default, as docs/library.md says: npm would name each package that has one, and none of them
 * needs it.
 */
export async function npmInstall(
  folder: string,
  what: string | readonly string[],
  { scripts = false }: { readonly scripts?: boolean } = {},
): Promise<string> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier'];
  const { stderr } = await execute(
    'npm',
    ['install', ...(scripts ? [] : ['--ignore-scripts']), ...quiet, ...[what].flat()],
    {
      cwd: folder,
      env: environment,
    },
  );
  return withoutNpmrc(stderr);
}

/** Without warnings of a setting in the npmrc of the machine, which is none of the package's. */
function withoutNpmrc(stderr: string): string {
  return stderr.replaceAll(/^npm warn Unknown .* config .*\n/gm, '');
}

/**
 * Runs a line that installs the command for all folders, in `cwd`, into a new folder in place of npm's global one.
 * Returns what npm printed on stderr, and the version of the installed command.
 */
export async function installGlobally(line: string, cwd: string): Promise<{ warnings: string; version: string }> {
  const prefix = mkdtempSync(join(tmpdir(), 'sandflow-global-'));
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
  try {
    const env = { ...environment, ...quiet, npm_config_prefer_offline: 'true', npm_config_prefix: prefix };
    const { stderr } = await execute('bash', ['-c', line], { cwd, env });
    const { stdout } = await execute(join(prefix, 'bin', 'sandflow'), ['--version'], { cwd: tmpdir(), env });
    return { warnings: withoutNpmrc(stderr), version: stdout.trim() };
  } finally {
    rmSync(prefix, { recursive: true, force: true });
  }
}

export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-installed-'));
  const all = ['--workspaces', '--include-workspace-root'];
  const { stdout } = await execute(
    'npm',
    ['pack', ...all, '--json', '--ignore-scripts', '--pack-destination', folder],
    {
      cwd: repository,
      env: environment,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  type Packed = { readonly name: string; readonly filename: string; readonly files: PackedFile[] };
  const both = JSON.parse(stdout) as readonly Packed[];
  const [packed, local] = ['sandflow', 'sandflow-local-service'].map((name) => both.find((one) => one.name === name));
  if (!packed || !local) throw new Error('npm did not pack both packages.');
  await writeFile(join(folder, 'package.json'), '{"name":"newcomer","private":true,"type":"module"}\n');
  const tarball = join(folder, packed.filename);
  const localTarball = join(folder, local.filename);
  const warnings = await npmInstall(folder, [tarball, localTarball]);
  return {
    folder,
    tarball,
    localTarball,
    files: packed.files,
    warnings,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
