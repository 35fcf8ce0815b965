/** The table: every scenario × each of its calls × every fault × once and permanently. */
import type { ProxiedCall } from './faults/fault-proxy.js';
import type { Fault } from './faults/faults.js';
import { type Row, runPlain, type Site } from './row.js';
import { jobScenarios } from './scenarios/job-scenarios.js';
import { otherScenarios } from './scenarios/other-scenarios.js';
import type { Ended, Scenario } from './scenarios/scenario.js';
import type { World } from './world.js';

export const scenarios: readonly Scenario[] = [...jobScenarios, ...otherScenarios];

/** The calls of a scenario without faults. */
export interface Recording {
  readonly scenario: Scenario;
  readonly ended: Ended;
  /** Whether there is a sandbox before it begins. */
  readonly isGiven: boolean;
  readonly sites: readonly (Site & { readonly answer: unknown })[];
}

/** How often the same call of the same activity has its own rows: the first, and one more. */
const occurrences = 2;
const recordedAtOnce = 6;

export async function record(world: World, faults: readonly Fault[], of = scenarios): Promise<readonly Recording[]> {
  const strikerOf = faultNamed(faults);
  const recordings: Recording[] = [];
  // A few at once, so that they do not overload the machine.
  for (let from = 0; from < of.length; from += recordedAtOnce) {
    const part = of.slice(from, from + recordedAtOnce).map(async (scenario) => {
      const { ended, calls, prepared } = await runPlain(world, scenario, strikerOf);
      const isGiven = scenario.forks === true || prepared.given.length > 0 || prepared.sourceId !== undefined;
      return { scenario, ended, isGiven, sites: sitesOf(calls) };
    });
    recordings.push(...(await Promise.all(part)));
  }
  return recordings;
}

export const faultNamed = (faults: readonly Fault[]) => (name: string) => {
  const fault = faults.find((known) => known.name === name);
  if (!fault) throw new Error(`There is no fault ${name}`);
  return fault;
};

const isShared = ({ place }: ProxiedCall) => place.startsWith('activities/prompt/follow-hub.ts:');

function sitesOf(calls: readonly ProxiedCall[]): Recording['sites'] {
  const found = calls.filter(({ struckBy, site }) => struckBy === null && Number(site.split('#')[1]) <= occurrences);
  return found.map((call) => ({
    name: call.site,
    endpoint: call.endpoint,
    place: call.place,
    isShared: isShared(call),
    answer: call.answer,
  }));
}

/** A scenario with permanent faults, or a variation: only calls that no earlier scenario makes have rows. */
const isVariation = ({ always, rowsAt, name }: Scenario) =>
  always !== undefined || rowsAt !== undefined || name === 'batch-prepared';

/** The calls of a scenario that have rows of faults. */
export function sitesWithRows(recordings: readonly Recording[], { scenario, sites }: Recording): Recording['sites'] {
  const { rowsAt } = scenario;
  if (rowsAt) return sites.filter(({ name }) => rowsAt.includes(name));
  if (!isVariation(scenario)) return sites;
  const plain = recordings.filter(
    (other) => other.scenario.workflow === scenario.workflow && !isVariation(other.scenario),
  );
  const known = new Set(plain.flatMap((other) => other.sites.map(kindOf)));
  return sites.filter((site) => !known.has(kindOf(site)));
}

/** What is called, and the line that calls it. */
const kindOf = ({ name, place }: Site) => `${name.split('#', 1)[0]} ${place}`;

/** The scenario whose shared reads have rows: they do not depend on the job. */
const sharing = 'full';

export function rowsOf(recordings: readonly Recording[], faults: readonly Fault[]): Row[] {
  return recordings.flatMap((recording) => {
    const { scenario } = recording;
    return sitesWithRows(recordings, recording)
      .filter((site) => !site.isShared || scenario.name === sharing)
      .flatMap(({ answer, ...site }) =>
        faults
          .filter(({ concerns = () => true }) => concerns(answer))
          .flatMap((fault) => [
            { scenario, site, fault, extent: 'once' as const },
            { scenario, site, fault, extent: 'lasting' as const },
          ]),
      );
  });
}
