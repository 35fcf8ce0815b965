// Builds one package: compiles its TypeScript to a new folder, which replaces `dist` at the end. So a program that runs
// from `dist` is not interrupted for seconds.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reachableTypes } from './shipped-types.mjs';

export const repository = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = 'sources.sha256';
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

/**
 * @param home the folder of the package
 * @param sources folders of the repository whose files are part of the build
 * @param finish does the rest in the folder of the compiled files
 */
export async function buildPackage({ home, sources, finish }) {
  const dist = join(home, 'dist');
  const hash = hashOf(home, sources);
  if (process.argv.includes('--if-changed') && builtFrom(dist) === hash) return;
  const fresh = `${dist}-${process.pid}`;
  const args = ['-p', join(home, 'tsconfig.build.json'), '--outDir', fresh];
  const compiled = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  if (compiled.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    process.exit(compiled.status ?? 1);
  }
  await finish(fresh);
  removeWhatNobodyReads(home, fresh);
  writeFileSync(join(fresh, stamp), hash);
  const old = `${fresh}-old`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

/** The bundles have read the source maps; the compiled files are close to their sources, which the package does not hold. */
function removeWhatNobodyReads(home, fresh) {
  const { exports } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
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

function hashOf(home, sources) {
  const hash = createHash('sha256');
  const files = [
    ...['package.json', 'tsconfig.json', 'package-lock.json'],
    ...['package.json', 'tsconfig.build.json'].map((name) => relative(repository, join(home, name))),
    // Any of them may be part of the build.
    ...readdirSync(join(repository, 'scripts')).flatMap((name) =>
      name.endsWith('.mjs') ? [join('scripts', name)] : [],
    ),
  ];
  for (const folder of sources) {
    for (const path of readdirSync(join(repository, folder), { recursive: true })) {
      if (/\.(?:ts|js|cjs|css)$/.test(path)) files.push(join(folder, path));
    }
  }
  for (const file of [...new Set(files)].sort())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(repository, file)))
      .update('\0');
  return hash.digest('hex');
}

function builtFrom(dist) {
  const file = join(dist, stamp);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
