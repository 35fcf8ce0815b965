/** Everything that is known after a world has been played. */
import type { SandboxRecord } from '../../../local-service/src/store/sandbox-record.js';
import type { StopRequestView } from '../../../src/protocol/stop.js';
import type { JobPlan, Plan, StopPlan } from '../plan/plan.js';
import type { Books } from '../players/account.js';
import type { Told } from '../players/told.js';
import type { Traces } from '../players/traces.js';
import type { CallOfWorld } from '../stack/wire.js';

export interface WorldRecord {
  readonly plan: Plan;
  readonly told: readonly Told[];
  readonly books: Books;
  readonly calls: readonly CallOfWorld[];
  readonly traces: Traces;
  /** Keys of the troubles that have struck. */
  readonly struck: ReadonlySet<string>;
  /** When each job began, and when its end was told, in ms since the epoch. */
  readonly played: ReadonlyMap<string, { readonly fromMs: number; readonly untilMs: number }>;
  /** How often the checks of each run have begun. */
  readonly checkRuns: ReadonlyMap<string, number>;
  /** The source of forks, which belongs to a person. */
  readonly sourceId: string;
}

/** What is known of a stop that escalates. */
export interface Escalated {
  readonly plan: StopPlan;
  readonly told: Told;
  readonly sandboxId: string;
  readonly views: readonly StopRequestView[];
  /** When the service had accepted the stops of all requests; null if it refused one. */
  readonly acceptedAtMs: number | null;
  /** Calls of the stop workflow that the service accepted, whether or not their answers arrived. */
  readonly accepted: readonly CallOfWorld[];
}

/** The time that a broken promise of time missed. */
export interface MissedTime {
  /** When the time ran, in ms since the epoch. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** How much time the work had to spare on a quiet machine, or how much too late it was, in ms. */
  readonly missedMs: number;
  /** The time was missed within a shorter stretch of the interval, such as one auto-stop, in ms. Default: the interval. */
  readonly withinMs?: number;
}

/** A promise that a world broke. */
export interface Broken {
  readonly promise: string;
  /** Key of the job; null if it concerns the whole world. */
  readonly job: string | null;
  readonly what: string;
  /** For a promise of time: a machine that was as late as this explains it. Default: nothing explains it. */
  readonly late?: MissedTime | undefined;
}

/** Sandboxes that the job created, by their names and by the answers to its creates: somebody may have renamed them. */
export function madeBy({ books, calls, traces }: WorldRecord, told: Pick<Told, 'job' | 'workflowId'>): SandboxRecord[] {
  const answered = new Set(
    calls
      .filter(({ job, call }) => job === told.job && ['createSandbox', 'forkSandbox'].includes(call.endpoint))
      .flatMap(({ call }) => idOf(call.answer) ?? []),
  );
  // A fork by hand has the name of the job's sandbox.
  const isByHand = (id: string) => traces.forks.some(({ sandboxId }) => sandboxId === id);
  return books.sandboxes.filter(
    ({ id, name }) => answered.has(id) || (name.startsWith(`${told.workflowId}-`) && !isByHand(id)),
  );
}

function idOf(answer: unknown): string | undefined {
  const { sandbox } = (answer ?? {}) as { readonly sandbox?: { readonly id?: string } };
  return sandbox?.id;
}

export const planOf = ({ plan }: WorldRecord, job: string): JobPlan | undefined =>
  plan.jobs.find(({ key }) => key === job);

/** True if a trouble of one of these kinds has struck. */
export const hasStruck = ({ plan, struck }: WorldRecord, isMeant: (trouble: Plan['troubles'][number]) => boolean) =>
  plan.troubles.some((one) => struck.has(one.key) && isMeant(one));

/** The troubles of the job's own calls that have struck. */
export const troublesOf = ({ plan, struck }: WorldRecord, job: string) =>
  plan.troubles.filter((one) => struck.has(one.key) && 'at' in one && one.at.job === job);

/** Troubles of the whole world that may end a job: the machine or its agent is lost, or a day passes. */
const endsJobs = (one: Plan['troubles'][number]) =>
  one.kind === 'service' ||
  one.kind === 'hours' ||
  ((one.kind === 'death' || one.kind === 'crash') && one.part === 'service');

/** True if such a trouble explains any end of any job. */
export const isEndOfAny = (record: WorldRecord) => hasStruck(record, endsJobs);

/** True if something happened to the calls of the job that its end may show. */
export const wasDisturbed = (record: WorldRecord, job: string) =>
  troublesOf(record, job).some(({ kind }) => kind !== 'crash' && kind !== 'later');
