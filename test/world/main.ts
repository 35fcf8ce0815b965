/** `npm run world -- --seed N --jobs M`: plays worlds, and shrinks those that break a promise. */
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { readConfig } from '../../src/config.js';
import { findTemporalServer } from '../../src/temporal-server/find.js';
import { drawPlan } from './plan/draw-plan.js';
import type { Plan } from './plan/plan.js';
import { playWorld, type WorldEnd } from './play-world.js';
import { shrink } from './shrink.js';

const usage = `usage: npm run world -- [--seed N] [--jobs M] [--worlds K] [--parallel P] [--shrink] [--json] [--keep]

  --seed N    the first seed; default: a new one, which is printed
  --jobs M    jobs per world; default: 20
  --worlds K  worlds with seeds N, N+1, ...; default: 1
  --parallel P  worlds at once; default: 1
  --shrink    reduces the plan of a world that breaks a promise to the fewest jobs and troubles that still do
  --json      prints one JSON object per world
  --keep      keeps the state and the logs of the processes`;

function numberOf(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, not "${text}".`);
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    jobs: { type: 'string' },
    worlds: { type: 'string' },
    parallel: { type: 'string' },
    shrink: { type: 'boolean' },
    json: { type: 'boolean' },
    keep: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
const firstSeed = numberOf('seed', values.seed, Math.floor(Math.random() * 2 ** 31));
const jobs = numberOf('jobs', values.jobs, 20);
const worlds = numberOf('worlds', values.worlds, 1);
const parallel = numberOf('parallel', values.parallel, 1);

const aborter = new AbortController();
// Every wait of every world listens to it.
setMaxListeners(0, aborter.signal);
process.once('SIGINT', () => aborter.abort(new Error('interrupted')));
const print = (line: string) => void process.stdout.write(`${line}\n`);
const directory = await mkdtemp(join(tmpdir(), 'sandflow-world-'));
const { cacheDirectory } = readConfig();
const temporalBinary = await findTemporalServer({ cacheDirectory, onProgress: print });
const workflowsPath = fileURLToPath(new URL('../../workflows/index.js', import.meta.url));
const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
const bundlePath = join(directory, 'workflow-bundle.js');
await writeFile(bundlePath, code);

let played = 0;
const play = (plan: Plan): Promise<WorldEnd> => {
  played += 1;
  const at = join(directory, `${plan.seed}-${played}`);
  return playWorld(plan, { directory: at, temporalBinary, bundlePath, signal: aborter.signal }).finally(async () => {
    if (!values.keep) await rm(at, { recursive: true, force: true });
  });
};

let failed = 0;
const totals = { jobs: 0, calls: 0, struck: 0 };
async function playSeed(seed: number): Promise<void> {
  const plan = drawPlan(seed, jobs);
  const end = await play(plan);
  totals.jobs += end.outcomes.length;
  totals.calls += end.calls;
  totals.struck += end.struck.size;
  if (values.json) {
    if (end.broken.length > 0) failed += 1;
    return print(JSON.stringify({ seed, ...end, struck: [...end.struck] }));
  }
  const counts = new Map<string, number>();
  for (const { outcome } of end.outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const shown = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  print(
    `seed ${seed}: ${end.outcomes.length} of ${plan.jobs.length} jobs told their end (${shown}); ` +
      `${end.struck.size} of ${plan.troubles.length} troubles struck; ${end.calls} calls; ${Math.round(end.durationMs / 1_000)} s`,
  );
  if (end.broken.length === 0) return;
  failed += 1;
  for (const { promise, job, what } of end.broken)
    print(`  BROKEN ${promise}${job === null ? '' : ` (${job})`}: ${what}`);
  if (!values.shrink) return;
  const promises = new Set(end.broken.map(({ promise }) => promise));
  const small = await shrink(
    plan,
    async (candidate) => (await play(candidate)).broken.some(({ promise }) => promises.has(promise)),
    {
      signal: aborter.signal,
      onStep: (next) => print(`  still broken with ${next.jobs.length} jobs and ${next.troubles.length} troubles`),
    },
  );
  print(`  the smallest plan found:\n${JSON.stringify(small, undefined, 2)}`);
}

let nextSeed = firstSeed;
async function playSeeds(): Promise<void> {
  while (nextSeed < firstSeed + worlds && !aborter.signal.aborted) {
    nextSeed += 1;
    await playSeed(nextSeed - 1);
  }
}
await Promise.all(Array.from({ length: parallel }, playSeeds));
if (values.keep) print(`kept: ${directory}`);
else await rm(directory, { recursive: true, force: true });
if (!values.json)
  print(
    `${worlds} worlds, ${totals.jobs} jobs, ${totals.calls} calls, ${totals.struck} troubles; ${failed} worlds broke a promise`,
  );
process.exit(failed === 0 ? 0 : 1);
