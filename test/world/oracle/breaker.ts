/** Promises about batches whose items all fail alike: few of them start, and no more until a person says so. */
import type { BatchPlan } from '../plan/plan.js';
import type { Told } from '../players/told.js';
import { alikeFailures } from './expected.js';
import { type Broken, isEndOfAny, madeBy, planOf, type WorldRecord, wasDisturbed } from './record.js';

export function brokenBreakers(record: WorldRecord): Broken[] {
  if (isEndOfAny(record)) return [];
  return record.told.flatMap((told): Broken[] => {
    const plan = planOf(record, told.job);
    const { job, holds } = told;
    // A trouble makes some items fail in another way, and the failures before it count no more.
    if (plan?.kind !== 'batch' || !plan.alike || !holds || wasDisturbed(record, job)) return [];
    const broken = (what: string) => ({ promise: 'a batch that fails alike is held', job, what });
    return [...overrun(plan, holds), ...wrongEnd(record, plan, told)].map(broken);
  });
}

/** As many as may start before the first of the equal failures are counted. */
const mostStarted = ({ concurrency, alike }: BatchPlan) => (alike?.breaker ?? 0) - 1 + concurrency;

function overrun(plan: BatchPlan, holds: NonNullable<Told['holds']>): string[] {
  const most = mostStarted(plan);
  if (holds.length === 0) return plan.items > most ? [`never held, of ${plan.items} items that fail alike`] : [];
  const code = alikeFailures(plan)?.code;
  return holds.flatMap((hold, at) => {
    const started = hold.started - (holds[at - 1]?.started ?? 0);
    const said = `held by ${hold.by} after ${hold.count} times ${hold.code}`;
    const isMeant = hold.by === 'breaker' && hold.code === code && hold.count >= (plan.alike?.breaker ?? 0);
    return [
      ...(started > most ? [`${started} items started before it was held, which may be ${most}`] : []),
      ...(isMeant ? [] : [`${said}, and its items fail with ${code}`]),
    ];
  });
}

function wrongEnd(record: WorldRecord, plan: BatchPlan, told: Told): string[] {
  const [first] = told.holds ?? [];
  if (!first) return [];
  const ofItem = new RegExp(`^${told.workflowId}-\\w+-i([0-9a-z]+)-\\d+$`);
  const started = new Set(madeBy(record, told).flatMap(({ name }) => ofItem.exec(name)?.[1] ?? [])).size;
  const completed = told.jobs.filter(({ outcome }) => outcome === 'completed').length;
  const meant = {
    cancel: { started: first.started, completed: 0 },
    go_on: { started: plan.items, completed: 0 },
    mend: { started: plan.items, completed: plan.items - first.started },
  }[plan.alike?.whenHeld ?? 'cancel'];
  if (started === meant.started && completed === meant.completed) return [];
  const of = `${started} items started and ${completed} completed`;
  return [`${of} by its end, and not ${meant.started} and ${meant.completed}`];
}
