// Compiles the TypeScript, bundles the workflows once, so that a worker starts without running a bundler, and packs the
// command line.
// With --if-changed, it does nothing if the last build had the same sources.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleLibraries } from './bundle-libraries.mjs';
import { packCommandLine } from './pack.mjs';
import { reachableTypes } from './shipped-types.mjs';
import { writeLicenses } from './third-party-licenses.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = 'sources.sha256';
const sources = hashOfSources();
if (process.argv.includes('--if-changed') && builtFrom() === sources) process.exit(0);

// The build goes to a new folder, which replaces `dist` at the end. So a program that runs from `dist` is not
// interrupted for seconds.
const fresh = `${dist}-${process.pid}`;
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
const args = ['-p', join(root, 'tsconfig.build.json'), '--outDir', fresh];
const compiled = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
if (compiled.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(compiled.status ?? 1);
}

// The report of a batch reads its style and script from the folder of its own code.
const browserFiles = join('src', 'report', 'browser');
cpSync(join(root, browserFiles), join(fresh, browserFiles), {
  recursive: true,
  filter: (path) => !path.endsWith('tsconfig.json'),
});

// Temporal's SDK loads this file by its path.
const failureConverter = join('src', 'encryption', 'failure-converter.cjs');
cpSync(join(root, failureConverter), join(fresh, failureConverter));

const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
const workflows = {
  workflowsPath: join(fresh, 'workflows', 'index.js'),
  logger: new DefaultLogger('WARN'),
  // Stack traces name files of the package, not of the machine that built it. Temporal needs a source map, but not the sources in it.
  webpackConfigHook: (config) => ({
    ...config,
    context: fresh,
    devtool: 'inline-nosources-source-map',
    output: {
      ...config.output,
      devtoolModuleFilenameTemplate: ({ absoluteResourcePath: path }) =>
        path.startsWith(fresh) ? join('dist', relative(fresh, path)) : path.replace(join(root, '/'), ''),
    },
  }),
};
// The options name files of the same build.
const { encryptedBundle, unencryptedBundle } = await import(
  pathToFileURL(join(fresh, 'src/worker/workflow-bundle.js')).href
);
const bundle = async (name, options) =>
  writeFileSync(join(fresh, name), (await bundleWorkflowCode({ ...workflows, ...options })).code);
await bundle('workflow-bundle.js', unencryptedBundle);
await bundle('workflow-bundle-encrypted.js', encryptedBundle);
const packages = [...(await bundleLibraries(fresh)), ...(await packCommandLine(fresh))];
writeLicenses(join(fresh, 'third-party-licenses.txt'), packages);
removeWhatNobodyReads();
writeFileSync(join(fresh, stamp), sources);
chmodSync(join(fresh, 'src', 'cli', 'main.js'), 0o755);

const old = `${fresh}-old`;
if (existsSync(dist)) renameSync(dist, old);
renameSync(fresh, dist);
rmSync(old, { recursive: true, force: true });

/** The bundles have read the source maps; the compiled files are close to their sources, which the package does not hold. */
function removeWhatNobodyReads() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(fresh, relative('dist', types))] : []));
  const types = reachableTypes(entries);
  for (const name of readdirSync(fresh, { recursive: true })) {
    const path = join(fresh, name);
    if (name.endsWith('.map') || (name.endsWith('.d.ts') && !types.has(path))) rmSync(path);
    else if (name.endsWith('.js') && !name.startsWith('workflow-bundle')) {
      writeFileSync(path, readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=\S+\n?$/m, ''));
    }
  }
}

function hashOfSources() {
  const hash = createHash('sha256');
  const files = [
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    // Any of them may be part of the build.
    ...readdirSync(join(root, 'scripts')).flatMap((name) => (name.endsWith('.mjs') ? [join('scripts', name)] : [])),
  ];
  for (const folder of ['src', 'workflows', 'activities']) {
    for (const path of readdirSync(join(root, folder), { recursive: true })) {
      if (/\.(?:ts|js|cjs|css)$/.test(path)) files.push(join(folder, path));
    }
  }
  for (const file of files.sort())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function builtFrom() {
  const file = join(dist, stamp);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
