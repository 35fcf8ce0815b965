/** Prints what a job costs each peer, and the ratios to plain Temporal with signals. */
import { median } from '../measure/quantiles.js';
import { table } from '../report.js';
import type { Sample } from './cost.js';
import { allPeers, referenceName } from './systems/all.js';

type Numbers = Readonly<Record<'wake' | 'wakeP95' | 'over' | 'perSecond' | 'calls' | 'engine' | 'app', number>>;

const round = (value: number, digits = 0) => value.toFixed(digits);

/** A table for each phase, with medians of the rounds. */
export function describeCost(samples: readonly Sample[]): string {
  const phases = [...new Set(samples.map(({ phase }) => phase))];
  return phases.map((phase) => describePhase(phase, samples)).join('\n\n');
}

function describePhase(phase: string, samples: readonly Sample[]): string {
  const inPhase = samples.filter((sample) => sample.phase === phase);
  const peers = allPeers.map(({ name }) => name).filter((name) => inPhase.some(({ peer }) => peer === name));
  const numbersOf = (peer: string) => numbers(inPhase.filter((sample) => sample.peer === peer));
  const reference = peers.includes(referenceName) ? numbersOf(referenceName) : undefined;
  const head = [
    phase,
    'wake p50 / p95 ms',
    'over ms',
    'jobs/s',
    'API calls',
    'CPU ms: engine + app',
    'tasks, events, timers, activities',
    `beside ${referenceName}: wake`,
    'jobs/s',
    'CPU',
  ];
  const rows = peers.map((peer) => {
    const own = numbersOf(peer);
    const beside = (of: (one: Numbers) => number) => (reference ? round(of(own) / of(reference), 2) : '');
    return [
      peer,
      `${round(own.wake)} / ${round(own.wakeP95)}`,
      Number.isNaN(own.over) ? '' : round(own.over),
      round(own.perSecond, 1),
      round(own.calls, 1),
      `${round(own.engine)} + ${round(own.app)}`,
      historyIn(inPhase.filter((sample) => sample.peer === peer)),
      beside(({ wake }) => wake),
      beside(({ perSecond }) => perSecond),
      beside(({ engine, app }) => engine + app),
    ];
  });
  return table(head, rows);
}

/** A table for each phase and peer: the hops of a job and their shares, with medians of the rounds. */
export function describeHops(samples: readonly Sample[]): string {
  const places = new Map<string, Sample[]>();
  for (const sample of samples) {
    if (!sample.hops) continue;
    const place = `${sample.phase}: ${sample.peer}`;
    places.set(place, [...(places.get(place) ?? []), sample]);
  }
  return [...places].map(([place, rounds]) => describeHopsOf(place, rounds)).join('\n\n');
}

function describeHopsOf(place: string, rounds: readonly Sample[]): string {
  const course = ({ hops = [] }: Sample) => hops.map(({ until }) => until).join();
  const [first] = rounds;
  const alike = rounds.filter((sample) => first && course(sample) === course(first));
  const hops = (first?.hops ?? []).map(({ until }, at) => ({
    until,
    ms: median(alike.map((sample) => sample.hops?.[at]?.ms ?? Number.NaN)),
  }));
  const all = hops.reduce((sum, { ms }) => sum + ms, 0);
  const rows = hops.map(({ until, ms }) => [until, round(ms, 1), `${round((100 * ms) / all)} %`]);
  return table([place, 'ms', 'share'], [...rows, ['all', round(all), '']]);
}

function numbers(rounds: readonly Sample[]): Numbers {
  const of = (read: (sample: Sample) => number) => median(rounds.map(read));
  return {
    wake: of(({ wakeP50Ms }) => wakeP50Ms),
    wakeP95: of(({ wakeP95Ms }) => wakeP95Ms),
    over: of(({ overMs }) => overMs ?? Number.NaN),
    perSecond: of(({ perSecond }) => perSecond),
    calls: of(({ callsPerJob }) => callsPerJob),
    engine: of(({ engineCpuMs }) => engineCpuMs),
    app: of(({ appCpuMs }) => appCpuMs),
  };
}

function historyIn(rounds: readonly Sample[]): string {
  const batches = rounds.flatMap(({ eventsPerItem }) => eventsPerItem ?? []);
  if (batches.length > 0) return `${round(median(batches))} events an item, in all workflows`;
  const histories = rounds.flatMap(({ history }) => history ?? []);
  if (histories.length === 0) return '';
  const of = (read: (history: NonNullable<Sample['history']>) => number) => round(median(histories.map(read)));
  return [
    of((one) => one.workflowTasks),
    of((one) => one.events),
    of((one) => one.timers),
    of((one) => one.activities),
  ].join(', ');
}
