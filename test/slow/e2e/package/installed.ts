/** The package as somebody installs it: packed, and installed from its tarball in an empty folder. */
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
  // A setting in the npmrc of the machine, which is none of the package's.
  return stderr.replaceAll(/^npm warn Unknown .* config .*\n/gm, '');
}

export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-installed-'));
  const { stdout } = await execute('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: repository,
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string; readonly files: PackedFile[] }[];
  if (!packed) throw new Error('npm packed nothing.');
  await writeFile(join(folder, 'package.json'), '{"name":"newcomer","private":true,"type":"module"}\n');
  const tarball = join(folder, packed.filename);
  const warnings = await npmInstall(folder, tarball);
  return {
    folder,
    tarball,
    files: packed.files,
    warnings,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
