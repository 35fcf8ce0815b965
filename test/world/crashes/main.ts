/** `npm run world:crashes`: kills a process at every boundary of every workflow, one death per job. */
import { parseArgs } from 'node:util';
import { crashTimes, type Part, parts } from '../plan/plan.js';
import { openWorkshop, wholeNumber } from '../workshop.js';
import { type Boundary, boundariesOf, nameOf, planOfCrashes, planWithoutDeaths, whenOf } from './boundaries.js';
import { crashScenarios } from './scenarios.js';

const usage = `usage: npm run world:crashes -- [--part PART] [--every N] [--from K] [--jobs M] [--scenario NAME] [--when LIST] [--only TEXT] [--keep]

  --part PART   worker, bridge, service or temporal; default: worker
  --every N     only each Nth boundary; default: 1
  --from K      skips the first K of these; default: 0
  --jobs M      jobs per world, each with its own death; default: 16
  --scenario NAME  only this one of ${crashScenarios.map(({ name }) => name).join(', ')}
  --when LIST   only these moments, separated by commas: ${[...crashTimes, 'event'].join(', ')}
  --only TEXT   only boundaries whose name contains the text, such as batch:forkSandbox
  --keep        keeps the state and the logs of the processes`;

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'worker' },
    every: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    jobs: { type: 'string', default: '16' },
    scenario: { type: 'string' },
    when: { type: 'string', default: [...crashTimes, 'event'].join(',') },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);
if (values.help) {
  print(usage);
  process.exit(0);
}
function partOf(text: string): Part {
  const part = parts.find((one) => one === text);
  if (part) return part;
  throw new Error(`--part must be one of ${parts.join(', ')}, not "${text}".`);
}
const part = partOf(values.part);
const scenarios = crashScenarios.filter(({ name }) => name === (values.scenario ?? name));
if (scenarios.length === 0) throw new Error(`--scenario: there is no "${values.scenario}".`);
const times = values.when.split(',');
const every = Math.max(1, wholeNumber('every', values.every));
const perWorld = Math.max(1, wholeNumber('jobs', values.jobs));
/** A dead worker is missed less where others are ready. */
const workers = 4;
/** A follow that was lost with its worker continues after 40 s. */
const slowMs = 75_000;

/** Neighbours differ in their workflows, so that their deaths come at different times. */
function spread(boundaries: readonly Boundary[], worlds: number): Boundary[][] {
  const groups: Boundary[][] = Array.from({ length: worlds }, () => []);
  for (const [at, boundary] of boundaries.entries()) groups[at % worlds]?.push(boundary);
  return groups;
}

const workshop = await openWorkshop({ keep: values.keep, onProgress: print });
const plain = await workshop.play(planWithoutDeaths(scenarios));
for (const { promise, job, what } of plain.broken) print(`BROKEN without a death: ${promise} (${job}): ${what}`);
const all = boundariesOf(plain, scenarios);
const chosen = all
  .filter((boundary) => nameOf(boundary).includes(values.only) && times.includes(whenOf(boundary)))
  .filter((_, at) => at % every === 0)
  .slice(wholeNumber('from', values.from));
print(`${all.length} boundaries, ${chosen.length} chosen; ${part}`);
const usualEnds = new Map(
  scenarios.map((scenario, at) => [scenario, plain.outcomes.find(({ job }) => job === `j${at}`)?.outcome]),
);
let broken = plain.broken.length;
let struck = 0;
for (const [at, group] of spread(chosen, Math.ceil(chosen.length / perWorld)).entries()) {
  if (workshop.signal.aborted) break;
  const end = await workshop.play(planOfCrashes(group, part, at + 1), { workers });
  const deaths = group.filter((_, index) => end.struck.has(`crash-${index}`)).length;
  struck += deaths;
  broken += end.broken.length;
  print(`world ${at + 1}: ${deaths} of ${group.length} deaths, ${Math.round(end.durationMs / 1_000)} s`);
  for (const { job, outcome, why, lastedMs } of end.outcomes) {
    const boundary = group[Number(job.slice(1))];
    const usual = boundary && usualEnds.get(boundary.scenario);
    if (boundary && outcome !== usual)
      print(`  other: ${nameOf(boundary)} ended ${outcome}, and not ${usual} (${why})`);
    if (lastedMs > slowMs && boundary)
      print(`  slow: ${nameOf(boundary)} ended ${outcome} after ${Math.round(lastedMs / 1_000)} s`);
  }
  for (const { promise, job, what } of end.broken) {
    const boundary = group[Number(job?.slice(1))];
    print(`  BROKEN ${promise} (${boundary ? nameOf(boundary) : 'world'}): ${what}`);
  }
}
await workshop.close();
print(`${struck} deaths of the ${part}; ${broken} promises broken`);
process.exit(broken === 0 ? 0 : 1);
