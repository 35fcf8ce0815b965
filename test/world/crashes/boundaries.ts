/** The points at which a process can die: around every call of a job, and at every event of its history. */
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { type CrashTime, crashTimes, type Part, type Plan, type Trouble } from '../plan/plan.js';
import type { WorldEnd } from '../play-world.js';
import type { CrashScenario } from './scenarios.js';

export type Boundary = { readonly scenario: CrashScenario } & (
  | { readonly endpoint: EndpointName; readonly nth: number; readonly when: CrashTime }
  | { readonly event: number }
);

/** A plan with each scenario once, and no death. */
export function planWithoutDeaths(scenarios: readonly CrashScenario[]): Plan {
  const jobs = scenarios.map(({ job }, at) => ({ ...job, key: `j${at}` }));
  const troubles = scenarios.flatMap(({ troubles = () => [] }, at) => troubles(`j${at}`));
  return { seed: 0, service: { promptIds: true }, jobs, troubles };
}

/** @param played the end of `planWithoutDeaths` */
export function boundariesOf(played: WorldEnd, scenarios: readonly CrashScenario[]): Boundary[] {
  return scenarios.flatMap((scenario, at): Boundary[] => {
    const counts = new Map<EndpointName, number>();
    const calls = played.callsByJob[`j${at}`] ?? [];
    const atCalls = calls.flatMap((endpoint) => {
      const nth = (counts.get(endpoint) ?? 0) + 1;
      counts.set(endpoint, nth);
      return crashTimes.map((when) => ({ scenario, endpoint, nth, when }));
    });
    // Only these have one workflow of a known id.
    const hasEvents = scenario.job.kind === 'run' || scenario.job.kind === 'batch';
    const events = hasEvents ? (played.eventsByJob[`j${at}`] ?? 0) : 0;
    const atEvents = Array.from({ length: events }, (_, event) => ({ scenario, event: event + 1 }));
    return [...atCalls, ...atEvents];
  });
}

/** A plan with one job per boundary, each with its own death. */
export function planOfCrashes(boundaries: readonly Boundary[], part: Part, seed: number): Plan {
  const jobs = boundaries.map(({ scenario: { job } }, at) => ({ ...job, key: `j${at}` }));
  const troubles = boundaries.flatMap((boundary, at): Trouble[] => {
    const job = `j${at}`;
    const key = `crash-${at}`;
    const own = boundary.scenario.troubles?.(job) ?? [];
    const death: Trouble =
      'event' in boundary
        ? { key, kind: 'crash', at: { job, event: boundary.event }, part }
        : {
            key,
            kind: 'crash',
            at: { job, endpoint: boundary.endpoint, nth: boundary.nth },
            when: boundary.when,
            part,
          };
    return [...own, death];
  });
  return { seed, service: { promptIds: true }, jobs, troubles };
}

export const nameOf = (boundary: Boundary): string =>
  'event' in boundary
    ? `${boundary.scenario.name}:event ${boundary.event}`
    : `${boundary.scenario.name}:${boundary.endpoint}#${boundary.nth}:${boundary.when}`;

/** When the process dies: a moment of a call, or `event`. */
export const whenOf = (boundary: Boundary): string => ('event' in boundary ? 'event' : boundary.when);
