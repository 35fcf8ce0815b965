// Runs the unit tests and one job on every version of Node that sandflow supports, and ends with a table. Each Node comes from npm.
// npm run test:nodes                  all versions
// npm run test:nodes -- 22 24         these
// npm run test:nodes -- 22 test/unit/house     only these tests
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(fileURLToPath(import.meta.url), '..', '..');
const supported = ['20.19', '22', '24'];
const named = process.argv.slice(2).filter((word) => /^\d+(?:\.\d+)*$/.test(word));
const tests = process.argv.slice(2).filter((word) => !named.includes(word));
const versions = named.length > 0 ? named : supported;

const work = mkdtempSync(join(tmpdir(), 'sandflow-nodes-'));
const rows = [];
try {
  for (const version of versions) rows.push(tryNode(version));
} finally {
  rmSync(work, { recursive: true, force: true });
}
say(['Node      ', ...rows.map(({ node }) => node)].join('\t'));
say(['unit tests', ...rows.map(({ unit }) => unit)].join('\t'));
say(['one job   ', ...rows.map(({ job }) => job)].join('\t'));
process.exitCode = rows.every(({ unit, job }) => unit === 'passed' && job === 'completed') ? 0 : 1;

function tryNode(version) {
  const folder = join(work, version);
  // Such a package has one program, `bin/node`, and no install script.
  const name = `node-${process.platform}-${process.arch}`;
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  run('npm', ['install', '--prefix', folder, ...quiet, `${name}@${version}`], { mustEnd: true });
  const bin = join(folder, 'bin');
  cpSync(join(folder, 'node_modules', name, 'bin'), bin, { recursive: true });
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const node = spawnSync('node', ['--version'], { env, encoding: 'utf8' }).stdout.trim();
  say(`\nNode ${node}`);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const unit = run('node', [vitest, 'run', '--project', 'unit', ...tests], { env }) ? 'passed' : 'FAILED';
  // A home of its own, so that the job cannot meet a stack of another Node.
  const home = { ...env, SANDFLOW_HOME: join(folder, 'home') };
  const main = join(root, 'dist', 'src', 'cli', 'main.js');
  const job = run('node', [main, 'run', 'Say hello'], { env: home }) ? 'completed' : 'FAILED';
  run('node', [main, 'down'], { env: home });
  return { node, unit, job };
}

function run(program, args, { env = process.env, mustEnd = false } = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, env, stdio: 'inherit' });
  if (mustEnd && status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with ${status}`);
  return status === 0;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
