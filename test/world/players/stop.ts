/** Users who request the stop of one sandbox. */
import { sandboxStopId } from '../../../src/contract/workflow-safe/addresses.js';
import { awaitStop } from '../../../src/workflow-client/stops/read-stops.js';
import { requestStop } from '../../../src/workflow-client/stops/stop-client.js';
import type { StopPlan } from '../plan/plan.js';
import { type Account, madeByPerson, persist, timing } from './account.js';
import type { Told } from './told.js';

export async function playStop(
  account: Account,
  { key, callers }: StopPlan,
  onGiven: (given: readonly string[]) => void,
): Promise<Told> {
  const { client, taskQueue, deployment, signal } = account;
  const sandboxId = await madeByPerson(account, `person-${key}`);
  const workflowId = sandboxStopId(sandboxId);
  onGiven([sandboxId]);
  account.watch(key, (tag) => tag.workflowId === workflowId);
  const outcomes = await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const options = { sandboxId, requestId: `${key}-${caller}`, deadlineMs: 60_000, timing };
      const requested = await persist(signal, () => requestStop(client, options, { taskQueue, deployment }));
      return (await persist(signal, () => awaitStop(client, requested), 120_000)).outcome;
    }),
  );
  const archived = outcomes.filter((outcome) => outcome === 'archived' || outcome === 'already_archived');
  const isArchived = archived.length > 0;
  return {
    job: key,
    workflowId,
    outcome: [...new Set(outcomes)].join(', '),
    jobs: [],
    // A caller knows the sandbox, and is told if it was not stopped.
    left: archived.length === callers ? [] : [sandboxId],
    saysArchived: isArchived ? [sandboxId] : [],
    saysDeleted: [],
    given: [sandboxId],
    othersPromptIds: [],
    isTerminated: false,
  };
}
