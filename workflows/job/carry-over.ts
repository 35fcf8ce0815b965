/** The state that a job carries over when its history is long and it continues as new. */

import type { JobExecution } from '../../src/protocol/job/job-input.js';
import type { CarriedInbox } from '../shared/event-inbox.js';
import { JobState, type Milestone } from './job-state.js';

/** All fields that the next run receives. It can compute the other fields again, or does not need them. */
export const carriedFields = [
  'startedAtMs',
  'deadlineAtMs',
  'prompts',
  'wakes',
  'wakeCount',
  'files',
  'diffBase',
  'diff',
  'left',
  'lost',
  'generation',
  'generationBeganMs',
  'firstSentAtMs',
  'resends',
  'wasReset',
  'sandbox',
  'degraded',
  'autoStop',
  'isFound',
  'isObtained',
  'isHydrated',
  'filesPut',
  'commandsDone',
  'command',
  'fingerprints',
  'unconfirmedName',
  'previousStopId',
  'resumedAtMs',
  'watched',
  'isShared',
  'setup',
  'stop',
  'stopRequest',
  'phase',
  'sinceMs',
  'phases',
] as const satisfies readonly (keyof JobState)[];

export interface CarriedJob {
  readonly fields: Readonly<Partial<Record<(typeof carriedFields)[number], unknown>>>;
  readonly reached: readonly (readonly [Milestone, number])[];
  readonly inbox: CarriedInbox;
}

/** JSON cannot represent infinity, so an infinite time becomes null. */
const isMoment = (name: string) => name.endsWith('AtMs');
/** Times for which null means unset, not infinite. */
const mayBeUnset: ReadonlySet<string> = new Set(['firstSentAtMs', 'resumedAtMs']);

export function carryJob(run: JobState): CarriedJob {
  const fields: Record<string, unknown> = {};
  for (const name of carriedFields) fields[name] = run[name] === Number.POSITIVE_INFINITY ? null : run[name];
  // The prompts of the input are carried in the input, so `prompts` does not repeat them.
  fields.prompts = run.prompts.map((prompt, index) =>
    index in run.input.prompts ? { ...prompt, step: null } : prompt,
  );
  return { fields, reached: [...run.reachedAtMs], inbox: run.inbox.carry() };
}

/** Creates the state of a job: a new one, or the one that an earlier run carried over. */
export function createJobState({ carried, ...input }: JobExecution<CarriedJob>): JobState {
  const run = new JobState(input, carried?.inbox);
  if (carried) resumeJob(run, carried);
  return run;
}

function resumeJob(run: JobState, { fields, reached }: CarriedJob): void {
  for (const name of carriedFields) {
    const value = fields[name];
    if (value === undefined) continue;
    const isEndless = value === null && isMoment(name) && !mayBeUnset.has(name);
    Object.assign(run, { [name]: isEndless ? Number.POSITIVE_INFINITY : value });
  }
  run.prompts = run.prompts.map((prompt, index) => ({ ...prompt, step: run.input.prompts[index] ?? prompt.step }));
  for (const [milestone, ms] of reached) run.reachedAtMs.set(milestone, ms);
}
