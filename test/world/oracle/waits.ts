/** A job and the escalation of a stop do not wait for each other. */
import { failsForEver } from '../plan/plan.js';
import { type Broken, planOf, troublesOf, type WorldRecord } from './record.js';

export function brokenWaits(record: WorldRecord): Broken[] {
  const { plan, told, struck } = record;
  return plan.troubles.flatMap((one): Broken[] => {
    if (one.kind !== 'newcomer' || one.brings !== 'run' || !struck.has(one.key)) return [];
    const { job } = one.at;
    const of = planOf(record, job);
    const acts = of?.kind === 'stop' && of.fails >= failsForEver && /resume|delete/.test(of.escalation?.steps ?? '');
    // Another trouble may keep the steps, or the newcomer.
    if (!acts || troublesOf(record, job).some(({ kind }) => kind !== 'newcomer')) return [];
    const newcomer = told.find((by) => by.job === one.key);
    const views = told.find((by) => by.job === job)?.stops?.views ?? [];
    const isSent = newcomer?.jobs.some(({ prompts }) => prompts.some(({ promptId }) => promptId !== null));
    // However late the machine was, the steps had their times: the lease kept them.
    const isStuck = views.some(
      ({ outcome, escalation }) =>
        outcome === 'still_failing' &&
        escalation.some(({ state, why }) => state === 'left' && why?.includes('leased') === true),
    );
    if (newcomer?.outcome !== 'deadline_exceeded' || isSent || !isStuck) return [];
    const what = `the job ${one.key} ended deadline_exceeded, and the stop that it waited for still_failing`;
    return [{ promise: 'a job and an escalation do not wait for each other', job, what }];
  });
}
