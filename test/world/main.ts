/** `npm run world -- --seed N --jobs M`: plays worlds, and shrinks those that break a promise. */
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type JobKind, jobKinds } from './plan/draw-job.js';
import { drawPlan } from './plan/draw-plan.js';
import type { Plan } from './plan/plan.js';
import { shrink } from './shrink.js';
import { openWorkshop, wholeNumber } from './workshop.js';

const usage = `usage: npm run world -- [--seed N] [--jobs M] [--kinds LIST] [--plan FILE] [--worlds K] [--parallel P] [--shrink] [--json] [--keep]

  --seed N    the first seed; default: a new one, which is printed
  --jobs M    jobs per world; default: 20
  --kinds LIST  jobs of these kinds only, separated by commas: ${jobKinds.join(', ')}
  --plan FILE  plays this plan, which --shrink has printed, instead of drawing one
  --worlds K  worlds with seeds N, N+1, ...; default: 1
  --parallel P  worlds at once; default: 1
  --shrink    reduces the plan of a world that breaks a promise to the fewest jobs and troubles that still do
  --json      prints one JSON object per world
  --keep      keeps the state and the logs of the processes`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    jobs: { type: 'string' },
    kinds: { type: 'string' },
    plan: { type: 'string' },
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
const firstSeed = wholeNumber('seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 31)));
const jobs = wholeNumber('jobs', values.jobs ?? '20');
const worlds = wholeNumber('worlds', values.worlds ?? '1');
const parallel = wholeNumber('parallel', values.parallel ?? '1');
const kinds = (values.kinds?.split(',') ?? jobKinds) as JobKind[];
const unknown = kinds.find((kind) => !jobKinds.includes(kind));
if (unknown !== undefined) throw new Error(`--kinds: "${unknown}" is none of ${jobKinds.join(', ')}.`);
const print = (line: string) => void process.stdout.write(`${line}\n`);
const given = values.plan === undefined ? undefined : (JSON.parse(await readFile(values.plan, 'utf8')) as Plan);
const workshop = await openWorkshop({ keep: values.keep === true, onProgress: print });
const { play, signal } = workshop;

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
let failed = 0;
const totals = { jobs: 0, calls: 0, struck: 0, excused: 0 };
async function playSeed(seed: number): Promise<void> {
  const plan = given ?? drawPlan(seed, jobs, kinds);
  const end = await play(plan);
  totals.jobs += end.outcomes.length;
  totals.calls += end.calls;
  totals.struck += end.struck.size;
  totals.excused += end.excused.length;
  if (values.json) {
    if (end.broken.length > 0) failed += 1;
    return print(JSON.stringify({ seed, ...end, evidence: undefined, struck: [...end.struck] }));
  }
  const counts = new Map<string, number>();
  for (const { outcome } of end.outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const shown = [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  print(
    `seed ${seed}: ${end.outcomes.length} of ${plan.jobs.length} jobs told their end (${shown}); ` +
      `${end.struck.size} of ${plan.troubles.length} troubles struck; ${end.calls} calls; ${seconds(end.durationMs)}, of which the machine lost ${seconds(end.lostMs)}`,
  );
  if (end.excused.length > 0) print(`  ${end.excused.length} excused, because the machine was late:`);
  for (const { promise, job, what, late, lostMs } of end.excused)
    print(
      `  excused ${promise} (${job}): ${what}; it missed ${seconds(late.missedMs)}, and the machine lost ${seconds(lostMs)}`,
    );
  if (end.broken.length === 0) return;
  failed += 1;
  const file = join(tmpdir(), `sandflow-world-${seed}-${jobs}.json`);
  await writeFile(file, JSON.stringify(end.evidence, undefined, 1));
  print(`  evidence: ${file}`);
  for (const { promise, job, what } of end.broken)
    print(`  BROKEN ${promise}${job === null ? '' : ` (${job})`}: ${what}`);
  if (!values.shrink) return;
  const promises = new Set(end.broken.map(({ promise }) => promise));
  const small = await shrink(
    plan,
    async (candidate) => (await play(candidate)).broken.some(({ promise }) => promises.has(promise)),
    {
      signal,
      onStep: (next) => print(`  still broken with ${next.jobs.length} jobs and ${next.troubles.length} troubles`),
    },
  );
  print(`  the smallest plan found:\n${JSON.stringify(small, undefined, 2)}`);
}

let nextSeed = firstSeed;
async function playSeeds(): Promise<void> {
  while (nextSeed < firstSeed + worlds && !signal.aborted) {
    nextSeed += 1;
    await playSeed(nextSeed - 1);
  }
}
await Promise.all(Array.from({ length: parallel }, playSeeds));
await workshop.close();
if (!values.json)
  print(
    `${worlds} worlds, ${totals.jobs} jobs, ${totals.calls} calls, ${totals.struck} troubles; ${totals.excused} excused by a late machine; ${failed} worlds broke a promise`,
  );
process.exit(failed === 0 ? 0 : 1);
