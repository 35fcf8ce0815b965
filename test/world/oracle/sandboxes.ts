/** Promises about machines: no second one, none that runs unnamed, nothing of somebody else's touched. */
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { BatchPlan } from '../plan/plan.js';
import { othersNameOf } from '../players/others.js';
import { type Broken, madeBy, planOf, type WorldRecord } from './record.js';

export function brokenSandboxes(record: WorldRecord): Broken[] {
  return [...tooMany(record), ...leaked(record), ...touched(record), ...renamedBack(record), ...untrueEnds(record)];
}

/** Per job at most one sandbox more than generations that were truly lost. */
function tooMany(record: WorldRecord): Broken[] {
  return record.told.flatMap((told) => {
    const plan = planOf(record, told.job);
    const made = madeBy(record, told);
    const lost = made.filter(
      ({ id, gone }) => gone === 'cancelled' || gone === 'reported' || record.traces.deleted.has(id),
    );
    const most = plan?.kind === 'batch' ? mostOfBatch(plan) : told.given.length === 0 ? 1 : 0;
    const excess = made.length - most - lost.length;
    if (excess <= 0) return [];
    const names = made.map(({ name, state, gone }) => `${name} (${gone ?? state})`).join(', ');
    return [{ promise: 'no second sandbox', job: told.job, what: `${made.length} sandboxes were made: ${names}` }];
  });
}

function mostOfBatch(plan: BatchPlan): number {
  const isResumed = plan.sources !== null && plan.sources.afterwards !== 'leave';
  const sources = plan.sources ? plan.sources.of.length : 1;
  // Three tries after failures of machines or of the service cost no retry.
  return (plan.items * (1 + plan.retries + 3) + sources) * (isResumed ? 2 : 1);
}

function leaked(record: WorldRecord): Broken[] {
  return record.told.flatMap((told) => {
    const plan = planOf(record, told.job);
    // A newcomer keeps the sandbox in which it works.
    if (told.isTerminated || plan === undefined) return [];
    const isKept = plan?.kind === 'run' && (plan.end === 'keep' || plan.source === 'shared');
    const own = [...madeBy(record, told), ...record.books.sandboxes.filter(({ id }) => told.given.includes(id))];
    return own.flatMap(({ id, name, state, gone }) => {
      const runs = gone === null && (isUsable(state) || state === 'error' || isCreating(state));
      // A job whose create was never answered knows only the name that it gave.
      const named = [id, name, record.traces.renamed.get(id)];
      const isNamed = named.some((one) => one !== undefined && told.left.includes(one));
      const isMeant = isKept && told.jobs.some(({ sandboxId }) => sandboxId === id);
      // A person's sandbox that the job never reached stays as it was.
      const isUntouched = told.given.includes(id) && (isKept || !wasChanged(record, id));
      if (!runs || isNamed || isMeant || isUntouched || isAnothersNow(record, told.job, id)) return [];
      return [{ promise: 'no machine leaked', job: told.job, what: `left ${state} and unnamed: ${id} (${name})` }];
    });
  });
}

/** Somebody resumed the sandbox after the job had last requested its end. */
function isAnothersNow({ traces, calls }: WorldRecord, ofJob: string, id: string): boolean {
  const resumedAtMs = traces.resumed.get(id);
  if (resumedAtMs === undefined) return false;
  const ends: readonly string[] = ['stopSandbox', 'deleteSandbox'];
  return !calls.some(
    ({ job, call, atMs }) =>
      job === ofJob && call.sandboxId === id && ends.includes(call.endpoint) && atMs > resumedAtMs,
  );
}

const wasChanged = ({ calls }: WorldRecord, sandboxId: string) =>
  calls.some(({ call }) => !call.isRead && call.sandboxId === sandboxId);

/** Calls that change something, only to the job's own sandboxes, those it was given, and the source of its forks. */
function touched(record: WorldRecord): Broken[] {
  return record.told.flatMap((told) => {
    const own = new Set([...madeBy(record, told).map(({ id }) => id), ...told.given]);
    return record.calls.flatMap(({ job, call }) => {
      if (job !== told.job || call.isRead || call.sandboxId === null || own.has(call.sandboxId)) return [];
      if (call.endpoint === 'forkSandbox' && call.sandboxId === record.sourceId) return [];
      const what = `${call.endpoint} of ${call.sandboxId}, which is somebody else's`;
      return [{ promise: "nothing of somebody else's is touched", job, what }];
    });
  });
}

function renamedBack({ traces, books }: WorldRecord): Broken[] {
  return books.sandboxes
    .filter(({ id, name, gone }) => traces.renamed.has(id) && gone === null && name !== othersNameOf(id))
    .map(({ id, name }) => ({
      promise: "nothing of somebody else's is touched",
      job: null,
      what: `somebody's name of ${id} was undone: ${name}`,
    }));
}

/** What the result says of the sandbox is so by the books. */
function untrueEnds(record: WorldRecord): Broken[] {
  const of = (id: string) => record.books.sandboxes.find((sandbox) => sandbox.id === id);
  return record.told.flatMap((told) => {
    const untrue = (what: string) => [{ promise: 'the result says what is', job: told.job, what }];
    return [
      ...told.saysArchived.flatMap((id) => {
        const sandbox = of(id);
        const isTrue =
          sandbox && (sandbox.state === 'archived' || sandbox.gone !== null || record.traces.resumed.has(id));
        return isTrue ? [] : untrue(`says archived: ${id}, is ${sandbox?.state ?? 'unknown to the service'}`);
      }),
      ...told.saysDeleted.flatMap((id) => {
        const sandbox = of(id);
        return sandbox && sandbox.gone === null ? untrue(`says deleted: ${id}, is ${sandbox.state}`) : [];
      }),
      ...told.jobs.flatMap(({ stop, sandboxId }) => {
        const sandbox = sandboxId === null ? undefined : of(sandboxId);
        const isUntrue = stop?.kept === 'saved' && sandbox?.gone === null && sandbox.snapshotCompletedAt === null;
        return isUntrue ? untrue(`says saved: ${sandboxId}, which has no snapshot`) : [];
      }),
    ];
  });
}
