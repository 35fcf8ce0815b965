/** Promises about what people did by hand: forks of a job's sandbox, and sandboxes kept on purpose. */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { Trouble } from '../plan/plan.js';
import { type Broken, hasStruck, type WorldRecord } from './record.js';

const isLoss = (one: Trouble) =>
  one.kind === 'service' ||
  one.kind === 'hours' ||
  ((one.kind === 'death' || one.kind === 'crash') && one.part === 'service');

export function brokenPeople(record: WorldRecord): Broken[] {
  // The machine is lost, or hours pass, in which it stops by itself.
  if (hasStruck(record, isLoss)) return [];
  const { books, traces } = record;
  const lost = (list: readonly { readonly job: string; readonly sandboxId: string }[], promise: string, what: string) =>
    list.flatMap(({ job, sandboxId }): Broken[] => {
      const sandbox = books.sandboxes.find(({ id }) => id === sandboxId);
      if (traces.acted.has(sandboxId) || (sandbox?.gone === null && isUsable(sandbox.state))) return [];
      return [{ promise, job, what: `${what} ${sandboxId} is ${sandbox?.gone ?? sandbox?.state}` }];
    });
  return [
    ...lost(traces.forks, "nothing of somebody else's is touched", "the person's fork of the sandbox of the job"),
    ...lost(traces.kept, 'what was kept on purpose stays', 'the sandbox that the continued job kept'),
  ];
}
