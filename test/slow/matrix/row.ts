/** Runs one row of the table: a scenario, a site, a fault, once or permanently. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { followTaskQueue } from '../../../src/addresses/addresses.js';
import { allowedOutcomes, type Extent, isHarmless } from './allowed.js';
import { brokenWorkflows } from './ended-workflows.js';
import type { ProxiedCall, Striker } from './faults/fault-proxy.js';
import type { Fault } from './faults/faults.js';
import { brokenPromises, type Place, type Run } from './oracle.js';
import type { Ended, Prepared, Scenario } from './scenarios/scenario.js';
import type { World } from './world.js';

export interface Site {
  /** `stopSandbox/stopSandbox#1` */
  readonly name: string;
  readonly endpoint: ProxiedCall['endpoint'];
  /** The line of the activity that makes the call. */
  readonly place: string;
  /** True for calls that all jobs of a worker share. */
  readonly isShared: boolean;
}

export interface Row {
  readonly scenario: Scenario;
  readonly site: Site;
  readonly fault: Fault;
  readonly extent: Extent;
}

export interface Verdict {
  readonly broken: readonly string[];
  /** True if no promise is broken: the run only did not end, or not as expected, as happens on a busy machine. */
  readonly isUntimely: boolean;
  /** False if the run never reached the site. */
  readonly isReached: boolean;
  readonly ended: Ended | null;
  readonly calls: readonly ProxiedCall[];
}

export const rowName = ({ scenario, site, fault, extent }: Row): string =>
  `${scenario.name}:${site.name}:${fault.name}:${extent}`;

/** Waits that a client cannot shorten: an hour's limit, an unpaid bill. */
export const isSlow = ({ fault, extent }: Row): boolean =>
  extent === 'once' && (fault.class === 'throttled_for_long' || fault.class === 'blocked');

const lastingDeadlineMs = 8_000;
/** The extra time for a busy machine, the last call and the clean-up after the deadline, in ms. */
const marginMs = 60_000;
/** The time after which a late call and an archival have ended. */
const settleMs = 6_000;

/** The maximum duration of a run with this fault on an idle machine, in ms. A job that continues ends much earlier. */
function deadlineOf(row: Row): number {
  const { scenario, site, fault, extent } = row;
  const isNoTrouble = isHarmless(scenario, { class: fault.class, endpoint: site.endpoint });
  if (extent === 'lasting' && !isNoTrouble) return lastingDeadlineMs;
  return isSlow(row) ? 120_000 : 45_000;
}

export const nextId = (): string => `x${randomBytes(5).toString('hex')}`;

/** Runs a scenario with only its permanent faults. */
export async function runPlain(world: World, scenario: Scenario, strikerOf: (name: string) => Striker) {
  const id = nextId();
  const { taskQueue } = world.stand;
  const prepared = await scenario.prepare(world, { id, deadlineMs: 45_000, taskQueue });
  const tapped = world.proxy.tap({
    isOf: prepared.isOf,
    keepsAnswers: true,
    lens: scenario.lens,
    strikerOf: ({ site }) => alwaysOf(scenario, site, strikerOf),
  });
  try {
    const ended = await prepared.run();
    return { ended, prepared, calls: tapped.calls };
  } finally {
    tapped.remove();
  }
}

export function alwaysOf({ always = {} }: Scenario, site: string, strikerOf: (name: string) => Striker) {
  const name = always[site];
  return name === undefined ? undefined : strikerOf(name);
}

export async function runRow(
  world: World,
  row: Row,
  options: { readonly strikerOf: (name: string) => Striker; readonly lane?: string; readonly patience?: number },
): Promise<Verdict> {
  const { scenario, site, fault, extent } = row;
  const { strikerOf, lane, patience = 1 } = options;
  const taskQueue = lane ?? world.stand.taskQueue;
  const deadlineMs = patience * deadlineOf(row);
  const prepared = await scenario.prepare(world, { id: nextId(), deadlineMs, taskQueue });
  const [kind = '', first = '1'] = site.name.split('#');
  const followQueue = lane === undefined ? null : followTaskQueue(lane);
  const tapped = world.proxy.tap({
    lens: scenario.lens,
    owns: (id) => world.stand.service.books.sandboxes().some((sandbox) => sandbox.id === id && prepared.owns(sandbox)),
    // A shared call has the tag of the job that started it.
    isOf: (tag) => prepared.isOf(tag) || (tag.activity.startsWith('follow') && tag.taskQueue === followQueue),
    strikerOf(call, nth) {
      const isHere =
        call.site === `${kind}#${nth}` && (nth === Number(first) || (extent === 'lasting' && nth > Number(first)));
      return isHere ? fault : alwaysOf(scenario, call.site, strikerOf);
    },
  });
  const beganAtMs = Date.now();
  try {
    const ended = await within(deadlineMs + 4_000 + marginMs, prepared.run());
    const tookMs = Date.now() - beganAtMs;
    const isReached = tapped.calls.some(({ struckBy }) => struckBy === fault.name);
    // A run with a deadline this short may end before it reaches the site.
    const allowed =
      isReached || deadlineOf(row) === lastingDeadlineMs
        ? allowedOutcomes(scenario, { class: fault.class, extent, endpoint: site.endpoint })
        : [scenario.expected];
    const named = allowed.includes(ended.outcome)
      ? []
      : [`ended ${ended.outcome}, may end ${[...new Set(allowed)].join(' or ')}${whyOf(ended)}`];
    const broken = await settled(world, { scenario, prepared, ended, calls: tapped.calls });
    const ofWorkflows = await brokenWorkflows(world, prepared);
    const untimely = [...named, ...lateness(tookMs, deadlineMs)];
    const promises = [...broken, ...ofWorkflows];
    const isUntimely = untimely.length > 0 && promises.length === 0;
    return { broken: [...promises, ...untimely], isUntimely, isReached, ended, calls: tapped.calls };
  } catch (error) {
    const isReached = tapped.calls.some(({ struckBy }) => struckBy === fault.name);
    await endAll(world, prepared);
    const broken = [`did not end: ${reasonOf(error)}`];
    return { broken, isUntimely: true, isReached, ended: null, calls: tapped.calls };
  } finally {
    tapped.remove();
    await clear(world, prepared);
  }
}

/** Deletes what a run has left, so that lists stay short. */
export async function clear({ stand }: World, { owns, sourceId }: Prepared): Promise<void> {
  const left = stand.service.books
    .sandboxes()
    .filter((sandbox) => sandbox.gone === null && (owns(sandbox) || sandbox.id === sourceId));
  for (const { id } of left) await stand.api.deleteSandbox(id).catch(() => undefined);
}

function whyOf({ jobs }: Ended): string {
  const errors = jobs.flatMap(({ error }) => (error ? [`${error.code}: ${error.message}`] : []));
  return errors.length === 0 ? '' : ` (${errors.join('; ').slice(0, 300)})`;
}

const lateness = (tookMs: number, deadlineMs: number) =>
  tookMs > deadlineMs + 4_000 + marginMs ? [`took ${tookMs} ms`] : [];

/** Broken promises after everything in progress has arrived. */
export async function settled(world: Place, run: Run): Promise<string[]> {
  const untilMs = Date.now() + settleMs;
  for (;;) {
    const broken = brokenPromises(world, run);
    if (broken.length === 0 || Date.now() >= untilMs) return broken;
    await sleep(200);
  }
}

export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not within ${ms} ms`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}

async function endAll({ stand }: World, { workflowId }: Prepared): Promise<void> {
  await stand.client.workflow
    .getHandle(workflowId)
    .terminate('the matrix gave it up')
    .catch(() => undefined);
}

function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) parts.push(at.message);
  return parts.join(': ') || String(error);
}
