/**
 * `npm run world:defects`: puts each known defect back, one at a time, and counts the worlds that find it. A defect is
 * a patch beside this file. Its first lines say what it does.
 */
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, promisify } from 'node:util';
import type { WorldEnd } from '../play-world.js';

const usage = `usage: npm run world:defects -- [--defect A1,D3] [--seed N] [--worlds K] [--jobs M] [--kinds LIST] [--parallel P]
       npm run world:defects -- --check [--defect A1,D3]

  --defect NAMES  only these; default: every patch in test/world/defects
  --seed N        the first seed; default: 1
  --worlds K      worlds per defect; default: 5
  --jobs M        jobs per world; default: 20
  --kinds LIST    jobs of these kinds only, as in \`npm run world\`; default: all
  --parallel P    worlds at once; default: 1
  --check         only says whether each patch applies, and whether the patched code compiles; plays no world`;

const { values } = parseArgs({
  options: {
    defect: { type: 'string' },
    seed: { type: 'string', default: '1' },
    worlds: { type: 'string', default: '5' },
    jobs: { type: 'string', default: '20' },
    kinds: { type: 'string' },
    parallel: { type: 'string', default: '1' },
    check: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}

const run = promisify(execFile);
const root = process.cwd();
const patches = resolve('test/world/defects');
/** What a build of the world needs. */
const sources = [
  ...['src', 'workflows', 'activities', 'local-service', 'bench', 'test', 'tsconfig.json', 'package.json'],
];

interface Found {
  readonly defect: string;
  /** The worlds that broke a promise, by the promises that they broke. */
  readonly promises: readonly (readonly string[])[];
  readonly worlds: number;
}

async function withCopy<T>(name: string, act: (copy: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(tmpdir(), `sandflow-defect-${name}-`));
  try {
    const isBuilt = (path: string) => basename(path) === '.out';
    for (const source of sources) {
      await cp(join(root, source), join(copy, source), { recursive: true, filter: (path) => !isBuilt(path) });
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    return await act(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Comments beside a change are reworded more often than the change itself. */
const apply = (defect: string, copy: string, ...options: readonly string[]) =>
  run('git', ['apply', '-C1', ...options, join(patches, `${defect}.patch`)], { cwd: copy });

const compile = (copy: string, ...options: readonly string[]) =>
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'test/world/tsconfig.json', ...options], {
    cwd: copy,
  });

/** Builds a copy of the project with the patch, and plays worlds on it. */
function tryDefect(defect: string): Promise<Found> {
  return withCopy(defect, async (copy) => {
    await apply(defect, copy);
    await compile(copy);
    const { seed, worlds, jobs, kinds, parallel } = values;
    const program = join(copy, 'test/world/.out/test/world/main.js');
    const options = ['--json', '--seed', seed, '--worlds', worlds, '--jobs', jobs, '--parallel', parallel];
    if (kinds !== undefined) options.push('--kinds', kinds);
    const child = spawn(process.execPath, [program, ...options], { cwd: copy, stdio: ['ignore', 'pipe', 'inherit'] });
    const promises: string[][] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('{')) continue;
      const { broken } = JSON.parse(line) as Pick<WorldEnd, 'broken'>;
      if (broken.length > 0) promises.push([...new Set(broken.map(({ promise }) => promise))]);
    }
    return { defect, promises, worlds: Number(worlds) };
  });
}

/** Compiles each patched code in one copy, so that the compiler looks only at what a patch changes. */
function checkPatches(defects: readonly string[]): Promise<boolean> {
  return withCopy('check', async (copy) => {
    const fast = ['--noEmit', '--incremental', '--tsBuildInfoFile', join(copy, 'known.tsbuildinfo')];
    await compile(copy, ...fast);
    let good = 0;
    for (const defect of defects) {
      const problem = await problemOf(async () => {
        await apply(defect, copy);
        try {
          await compile(copy, ...fast);
        } finally {
          await apply(defect, copy, '--reverse');
        }
      });
      if (problem === undefined) good += 1;
      else process.stdout.write(`${defect}: ${problem}\n`);
    }
    process.stdout.write(`${good} of ${defects.length} patches apply and compile\n`);
    return good === defects.length;
  });
}

/** What `git apply` or the compiler said; undefined if it had nothing to say. */
async function problemOf(act: () => Promise<void>): Promise<string | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    if (stdout === undefined) throw error;
    return `${stdout}${stderr ?? ''}`.trim();
  }
}

/** The first lines of a patch, before the first file. */
async function meaningOf(defect: string): Promise<string> {
  const text = await readFile(join(patches, `${defect}.patch`), 'utf8');
  return text
    .slice(0, Math.max(0, text.indexOf('\n--- ')))
    .replace(/\s+/g, ' ')
    .trim();
}

const all = (await readdir(patches)).flatMap((file) => (file.endsWith('.patch') ? [basename(file, '.patch')] : []));
const chosen = values.defect?.split(',') ?? all.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
if (values.check) process.exit((await checkPatches(chosen)) ? 0 : 1);
let found = 0;
process.stdout.write('| defect | found in | by |\n|---|---|---|\n');
for (const defect of chosen) {
  const { promises, worlds } = await tryDefect(defect);
  if (promises.length > 0) found += 1;
  const by = [...new Set(promises.flat())].join('; ') || '–';
  process.stdout.write(`| ${defect}: ${await meaningOf(defect)} | ${promises.length} of ${worlds} | ${by} |\n`);
}
process.stdout.write(`${found} of ${chosen.length} defects found\n`);
process.exit(found === chosen.length ? 0 : 1);
