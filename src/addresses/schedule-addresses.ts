/**
 * Ids of schedules and of their runs. The id of a run names its schedule and the time for which it was due, so the same
 * time never runs twice.
 *
 * No dependencies: workflow code imports this file.
 */
import { jobIdShapeProblem, maxDeploymentAndJobIdLength } from './addresses.js';

/** The prefix of the ids of a deployment's schedules. */
export function schedulePrefix(deployment: string): string {
  return `schedule/${deployment}/`;
}

/** The id of a schedule in Temporal. The id of the workflow that starts each of its runs is this id with a time appended. */
export function scheduleId(deployment: string, name: string): string {
  return `${schedulePrefix(deployment)}${name}`;
}

/** The label of every job and batch of a schedule: its value is the name of the schedule. */
export const scheduleLabel = 'schedule';

/**
 * The id of the job, the batch or the cleanup of one run, such as `nightly-261126-0130`. The time is in UTC; seconds
 * other than 00 are part of it.
 */
export function scheduledRunId(name: string, dueAt: Date): string {
  const [, day = '', minute = '', second = ''] = /^\d\d(.{8})T(.{5}):(\d\d)/.exec(dueAt.toISOString()) ?? [];
  const time = `${minute}${second === '00' ? '' : second}`;
  return `${name}-${day.replaceAll('-', '')}-${time.replace(':', '')}`;
}

/** Of the longest time in the id of a run, with its dashes. */
const timeLength = '-261126-013005'.length;

/** Why `name` cannot be the name of a schedule of this deployment: what follows `the name`. Undefined when it can. */
export function scheduleNameProblem(deployment: string, name: string): string | undefined {
  const longest = maxDeploymentAndJobIdLength - deployment.length - timeLength;
  if (name.length <= longest) return jobIdShapeProblem(name);
  return `"${name.slice(0, 80)}" has ${name.length} characters, but the maximum is ${longest}: the ids of its runs add a time`;
}
