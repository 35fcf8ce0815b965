/** The share of a job or a batch in the workers, as its start tells Temporal. Activities and children inherit it. Pure. */
import type { JobSettings } from './job-input.js';

/** @param ownKey the key of what sets none. @returns undefined if all is as Temporal has it */
export function taskPriority(
  { priority, fairnessKey }: Pick<JobSettings, 'priority' | 'fairnessKey'>,
  ownKey?: string,
) {
  const key = fairnessKey ?? ownKey;
  return priority === undefined && key === undefined ? undefined : { priorityKey: priority, fairnessKey: key };
}
