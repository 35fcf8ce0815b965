import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { repository } from '../../../unit/house/source-imports.js';
import { commandsOf, globalInstalls, prepareFolder, runInShell } from './guide-commands.js';
import { type InstalledPackage, installGlobally, installPackage } from './installed.js';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => installed.remove());

describe('every command of the guides, with the installed package', () => {
  let home: CliHome;
  beforeAll(() => {
    home = createCliHome();
    prepareFolder(installed.folder);
  });
  afterAll(() => home.close());

  // The pages follow one another, as a reader does: the tour creates what the other pages use.
  test.each([
    'README.md',
    'docs/tour.md',
    'docs/run.md',
    'docs/fan-out.md',
    'docs/stop.md',
    'docs/clean-up.md',
    'docs/schedules.md',
  ])(
    '%s',
    async (page) => {
      const ends = [];
      for (const { command, exitCode } of commandsOf(page)) {
        const end = await runInShell(command, { folder: installed.folder, home: home.home });
        ends.push({ command, exitCode: end.exitCode });
        expect({ command, exitCode: end.exitCode }, `${end.stdout}\n${end.stderr}`).toEqual({ command, exitCode });
      }
      expect(ends).not.toEqual([]);
    },
    400_000,
  );
});

test('the tour installs the command for all folders, from the clone and from its tarball, and npm warns of nothing', async () => {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string };
  const lines = globalInstalls();
  expect(lines.map((line) => line.split(' ').at(-1))).toEqual(['.', './sandflow-*.tgz']);
  for (const line of lines) {
    const cwd = line.endsWith(' .') ? repository : dirname(installed.tarball);
    expect(await installGlobally(line, cwd), line).toEqual({ warnings: '', version });
  }
}, 400_000);

describe('the package, installed from its tarball', () => {
  test('warns of nothing', () => {
    expect(installed.warnings).toBe('');
  });

  test('holds what is needed, once: no sources, no source maps, and no types that no entry reaches', () => {
    const paths = installed.files.map(({ path }) => path);
    expect(paths.filter((path) => /^(?:src|workflows|activities|test)\//.test(path))).toEqual([]);
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
    const types = paths.filter((path) => path.endsWith('.d.ts'));
    expect(types).toContain('dist/src/index.d.ts');
    expect(types).not.toContain('dist/src/cli/main.d.ts');
    // Unpacked: 8.7 MB, and 4.4 MB of the packed command line.
    expect(installed.files.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(13_500_000);
  });

  test('has the licence of every package whose code is packed into the command line', () => {
    const packed = installed.files.filter(({ path }) => /^dist\/src\/packed(?:-worker)?\//.test(path));
    const code = packed.map(({ path }) => readFileSync(join(repository, path), 'utf8')).join('\n');
    const names = [...code.matchAll(/^\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(([, name]) => name);
    const licences = readFileSync(join(repository, 'dist/third-party-licenses.txt'), 'utf8');
    expect(new Set(names).size).toBeGreaterThan(15);
    expect([...new Set(names)].filter((name) => !licences.includes(`\n${name} `))).toEqual([]);
  });

  test('names no folder of the machine that built it', () => {
    const bundles = installed.files.filter(({ path }) => /^dist\/workflow-bundle/.test(path));
    expect(bundles).toHaveLength(2);
    for (const { path } of bundles) {
      const code = readFileSync(join(repository, path), 'utf8');
      const map = Buffer.from(code.slice(code.lastIndexOf('base64,') + 'base64,'.length), 'base64').toString();
      expect(code).not.toContain(repository);
      expect(map).toContain('"workflows/job/create-then-prompt.ts"');
      expect(map).not.toContain(repository);
    }
  });

  test('has types for all of its entries', () => {
    const { folder } = installed;
    const { exports } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      exports: Readonly<Record<string, unknown>>;
    };
    const entries = Object.keys(exports).filter((entry) => entry !== './package.json');
    const uses = entries.map((entry, at) => `export * as entry${at} from 'sandflow${entry.slice(1)}';\n`);
    writeFileSync(join(folder, 'uses-all.ts'), uses.join(''));
    // Of the libraries' own types only those of the package are of interest here.
    const problems = problemsOf('uses-all.ts', '--module', 'nodenext');
    expect(problems.filter((line) => /node_modules\/sandflow\/|uses-all/.test(line))).toEqual([]);
  });

  test.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ])('is found by TypeScript with moduleResolution %s, if it skips the check of libraries', (resolution, module) => {
    writeFileSync(join(installed.folder, 'uses-one.ts'), "export { startJob } from 'sandflow';\n");
    const check = (...args: readonly string[]) =>
      problemsOf('uses-one.ts', '--moduleResolution', resolution, '--module', module, ...args);
    expect(check('--skipLibCheck')).toEqual([]);
    expect(check().join('\n')).toContain("declaration file for module 'ms'");
  });

  test('is found with the tsconfig.json of the page of the library', () => {
    const { folder } = installed;
    const page = readFileSync(join(repository, 'docs', 'library.md'), 'utf8');
    const config = JSON.parse(/^```json\n(\{ "compilerOptions".*\})\n```$/m.exec(page)?.[1] ?? '');
    writeFileSync(join(folder, 'uses-one.ts'), "export { startJob } from 'sandflow';\n");
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, files: ['uses-one.ts'] }));
    expect(problemsIn('--project', 'tsconfig.json')).toEqual([]);
    rmSync(join(folder, 'tsconfig.json'));
  });

  test('is required by CommonJS, for which TypeScript needs the module nodenext', () => {
    const { folder } = installed;
    writeFileSync(join(folder, 'requires.cjs'), "console.log(typeof require('sandflow').startJob);\n");
    expect(execFileSync('node', ['requires.cjs'], { cwd: folder, encoding: 'utf8' })).toBe('function\n');
    writeFileSync(
      join(folder, 'requires.cts'),
      "import { startJob } from 'sandflow';\nexport const start = startJob;\n",
    );
    expect(problemsOf('requires.cts', '--skipLibCheck', '--module', 'nodenext')).toEqual([]);
    expect(problemsOf('requires.cts', '--skipLibCheck', '--module', 'node16').join()).toContain('TS1479');
  });
});

/** What TypeScript says about a file of the newcomer. */
function problemsOf(file: string, ...args: readonly string[]): string[] {
  return problemsIn('--strict', '--target', 'es2022', '--types', 'node', ...args, file);
}

function problemsIn(...args: readonly string[]): string[] {
  const tsc = join(repository, 'node_modules', '.bin', 'tsc');
  const types = ['--typeRoots', join(repository, 'node_modules', '@types')];
  try {
    execFileSync(tsc, ['--noEmit', ...types, ...args], {
      cwd: installed.folder,
      encoding: 'utf8',
    });
    return [];
  } catch (cause) {
    return String((cause as { stdout: string }).stdout).split('\n');
  }
}
