/** Whose failure it is: what the service, a machine or a worker did is never that of the agent or of a person, nor the reverse. */
import type { FailureClass } from '../../../src/protocol/result-error-codes.js';
import type { JobResult } from '../../../workflows/index.js';
import type { BatchPlan, RunPlan } from '../plan/plan.js';
import { isRefusal } from './causes.js';
import { alikeFailures, expectedEnd } from './expected.js';
import { missedTime } from './missed-time.js';
import { type Broken, hasStruck, isEndOfAny, planOf, troublesOf, type WorldRecord, wasDisturbed } from './record.js';

/** Those that say something of the agent, of its work, or of what a person has set. */
const own: ReadonlySet<string> = new Set<FailureClass>(['agent', 'check', 'provider', 'setup']);

export function brokenClasses(record: WorldRecord): Broken[] {
  return record.told.flatMap((told): Broken[] => {
    const plan = planOf(record, told.job);
    if (told.isTerminated || (plan?.kind !== 'run' && plan?.kind !== 'batch')) return [];
    return told.jobs.flatMap((result) => {
      const why = untrueClass(record, plan, result);
      const late = missedTime(record, told);
      const { outcome, error, failureClass } = result;
      const what = `ended ${outcome} (${error?.code}: ${error?.message}) as a failure of ${failureClass}: ${why}`;
      return why === undefined ? [] : [{ promise: 'a failure is that of its cause', job: told.job, what, late }];
    });
  });
}

function untrueClass(record: WorldRecord, plan: RunPlan | BatchPlan, result: JobResult): string | undefined {
  const { outcome, failureClass = null } = result;
  if ((outcome === 'completed') !== (failureClass === null)) return 'only what failed has a class';
  if (failureClass === null || isEndOfAny(record)) return undefined;
  const planned = plan.kind === 'run' ? expectedEnd(plan) : alikeFailures(plan);
  if (!wasDisturbed(record, plan.key) && outcome === planned?.outcome) {
    return failureClass === planned.failureClass ? undefined : `its own failure is that of ${planned.failureClass}`;
  }
  if (!own.has(failureClass) || failureClass === planned?.failureClass) return undefined;
  const hits = troublesOf(record, plan.key);
  const isByPeople = hits.some(({ kind }) => kind === 'act' || kind === 'newcomer' || kind === 'message');
  // A setting that the service refuses for good.
  const isRefused = failureClass === 'setup' && hits.some(isRefusal);
  // What a job did at its deadline decides, and commands and checks show no agent.
  const isPhase = outcome === 'deadline_exceeded' && (failureClass === 'check' || failureClass === 'setup');
  if (isByPeople || isRefused || isPhase || (outcome === 'deadline_exceeded' && hasNoTime(record, plan)))
    return undefined;
  return `nothing of it failed by itself after ${hits.map((one) => JSON.stringify(one)).join(' ') || 'nothing'}`;
}

/** Its work takes all of its time, or a worker was away for much of it. */
function hasNoTime(record: WorldRecord, plan: RunPlan | BatchPlan): boolean {
  if (hasStruck(record, ({ kind }) => kind === 'death' || kind === 'crash' || kind === 'deploy')) return true;
  return plan.kind === 'run' && (plan.deadlineMs < 60_000 || plan.workSeconds * plan.prompts > 10);
}
