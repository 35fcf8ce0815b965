/** Users who request the stop of one sandbox. Some escalate it, if it goes on failing. */
import { sandboxStopId } from '../../../src/addresses/addresses.js';
import { parseEscalation } from '../../../src/protocol/escalation.js';
import { awaitStop } from '../../../src/workflow-client/stops/read-stops.js';
import { requestStop } from '../../../src/workflow-client/stops/stop-client.js';
import type { StopPlan } from '../plan/plan.js';
import { type Account, madeByPerson, persist, timing } from './account.js';
import type { Told } from './told.js';

/** Later than the last step of an escalation. */
export const stopDeadlineMs = 60_000;
export const escalatedDeadlineMs = 30_000;

export async function playStop(
  account: Account,
  { key, callers, fails, escalation }: StopPlan,
  onGiven: (given: readonly string[]) => void,
): Promise<Told> {
  const { client, taskQueue, deployment, signal } = account;
  const sandboxId = await madeByPerson(account, `person-${key}`);
  const workflowId = sandboxStopId(sandboxId);
  onGiven([sandboxId]);
  account.watch(key, (tag) => tag.workflowId === workflowId);
  if (fails > 0) await account.arm({ kind: 'stop_fails', sandboxId, times: fails });
  const ends = await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const isEscalated = escalation !== null && caller < escalation.callers;
      const options = {
        ...{ sandboxId, requestId: `${key}-${caller}`, timing },
        deadlineMs: escalation === null ? stopDeadlineMs : escalatedDeadlineMs,
        ...(isEscalated && { escalate: parseEscalation(escalation.steps, { mayDelete: true }) }),
      };
      const requested = await persist(signal, () => requestStop(client, options, { taskQueue, deployment }));
      const acceptedAtMs = requested.accepted.stopId === null ? Number.POSITIVE_INFINITY : Date.now();
      return { acceptedAtMs, view: await persist(signal, () => awaitStop(client, requested), 120_000) };
    }),
  );
  const views = ends.map(({ view }) => view);
  const acceptedAtMs = Math.max(...ends.map((one) => one.acceptedAtMs));
  const isArchived = views.some(({ outcome }) => outcome === 'archived' || outcome === 'already_archived');
  return {
    job: key,
    workflowId,
    outcome: [...new Set(views.map(({ outcome }) => outcome))].join(', '),
    jobs: [],
    // A caller knows the sandbox, and is told if it was not stopped.
    left: views.every(({ outcome }) => outcome === 'archived' || outcome === 'already_archived') ? [] : [sandboxId],
    saysArchived: isArchived ? [sandboxId] : [],
    saysDeleted: views.some(({ outcome }) => outcome === 'deleted') ? [sandboxId] : [],
    given: [sandboxId],
    othersPromptIds: [],
    isTerminated: false,
    stops: { views, acceptedAtMs: finite(acceptedAtMs), bindings: ends.map((one) => finite(one.acceptedAtMs)) },
  };
}

const finite = (ms: number) => (Number.isFinite(ms) ? ms : null);
