/** Promises about sandboxes in use: nobody cleans them up, and nobody begins to work in one that is being ended. */
import { missedLease } from './missed-time.js';
import { type Broken, hasStruck, type WorldRecord } from './record.js';

export function brokenUses(record: WorldRecord): Broken[] {
  // A lease needs a live worker to renew it, and hours end every lease.
  if (hasStruck(record, ({ kind }) => ['death', 'crash', 'deploy', 'hours'].includes(kind))) return [];
  return [...cleanedInUse(record), ...endedUnder(record)];
}

function cleanedInUse(record: WorldRecord): Broken[] {
  return record.traces.cleaned.map(({ job, sandboxId }) => ({
    promise: 'what is in use is not cleaned up',
    job,
    late: missedLease(record, job),
    what: `a cleanup deleted ${sandboxId} while the job used it`,
  }));
}

/** Why a job ends whose machine is taken from it. */
const lostCodes: readonly string[] = ['sandbox_stopped', 'sandbox_gone', 'command_failed'];

/** A newcomer that could prompt had the sandbox for itself. */
function endedUnder(record: WorldRecord): Broken[] {
  const { plan, told, traces, struck, books } = record;
  return plan.troubles.flatMap((one) => {
    if (one.kind !== 'newcomer' || one.brings === 'cleanup' || !struck.has(one.key)) return [];
    const end = told.find(({ job }) => job === one.key);
    const sandboxId = end?.given[0] ?? '';
    const isEnded = end?.outcome === 'sandbox_failed' || end?.outcome === 'prompt_failed';
    const wasPrompted = end?.jobs.some(({ prompts }) => prompts.some(({ promptId }) => promptId !== null));
    const isByPeople = traces.acted.has(sandboxId) || hasStruck(record, ({ kind }) => kind === 'service');
    const codes = end?.jobs.map(({ error }) => error?.code ?? '') ?? [];
    const wasCut = one.brings === 'command' && codes.some((code) => lostCodes.includes(code));
    if (!isEnded || !(wasPrompted || wasCut) || isByPeople) return [];
    const state = books.sandboxes.find(({ id }) => id === sandboxId)?.state ?? 'unknown';
    const what = `${sandboxId} was ended under the job that had begun to work in it (${state})`;
    return [{ promise: 'what is in use is not cleaned up', job: one.key, what }];
  });
}
