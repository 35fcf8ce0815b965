/** Promises about work: all items of a batch begin from one state, and nothing is deleted before it is collected. */
import type { JobResult } from '../../../workflows/index.js';
import type { BatchPlan } from '../plan/plan.js';
import { sourceOf } from '../players/sources.js';
import { type Broken, planOf, troublesOf, type WorldRecord } from './record.js';

export const brokenWork = (record: WorldRecord): Broken[] => [...fromDifferentStates(record), ...uncollected(record)];

function fromDifferentStates(record: WorldRecord): Broken[] {
  return record.told.flatMap(({ job, jobs }) => {
    const plan = planOf(record, job);
    if (plan?.kind !== 'batch') return [];
    const bySource = new Map<number, Set<string>>();
    for (const { source, state } of statesOf(plan, jobs)) {
      bySource.set(source, new Set([...(bySource.get(source) ?? []), state]));
    }
    return [...bySource.values()].flatMap((states) => {
      if (states.size < 2) return [];
      const what = `completed items began from ${[...states].map((state) => `"${state}"`).join(', ')}`;
      return [{ promise: 'the items of a source begin from one state', job, what }];
    });
  });
}

/** What each completed item has shown of its source. */
export function statesOf(plan: BatchPlan, jobs: readonly JobResult[]) {
  return jobs.flatMap(({ outcome, prompts }) => {
    const answer = outcome === 'completed' ? prompts[0]?.result : null;
    if (answer == null) return [];
    const [item = '', ...state] = answer.trim().split('\n');
    return [{ source: sourceOf(plan, Number(item.split(' ')[1])), state: state.join(' ') }];
  });
}

/** A second cancel is the word of a person. */
const isCancelledTwice = (record: WorldRecord, job: string) =>
  troublesOf(record, job).filter((one) => one.kind === 'message' && one.message === 'cancel').length > 1;

function uncollected(record: WorldRecord): Broken[] {
  return record.told.flatMap(({ job, jobs }) => {
    const plan = planOf(record, job);
    if (plan?.kind !== 'run' || !plan.collect || isCancelledTwice(record, job)) return [];
    return jobs.flatMap(({ sandboxId, files, outcome }): Broken[] => {
      const sandbox = record.books.sandboxes.find(({ id }) => id === sandboxId);
      const isDeleted = sandbox?.gone === 'deleted' || sandbox?.gone === 'deleting';
      const isByPeople = sandboxId === null || record.traces.acted.has(sandboxId);
      const lost = files.filter(({ error, missing }) => error !== null && !missing);
      // Only a command writes the file.
      const isWritten = record.calls.some(
        ({ job: of, call }) =>
          of === job && call.endpoint === 'runCommand' && call.sandboxId === sandboxId && isDone(call.answer),
      );
      if (!isDeleted || isByPeople || !isWritten || lost.length === 0) return [];
      const what = `ended ${outcome} and deleted ${sandboxId} with ${lost.map(({ path }) => path).join(', ')}`;
      return [{ promise: 'no work is deleted uncollected', job, what }];
    });
  });
}

const isDone = (answer: unknown) => typeof answer === 'object' && answer !== null && !('error' in answer);
