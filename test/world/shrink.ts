/** Reduces the plan of a broken world to the fewest jobs and troubles that still break it. */
import type { Plan } from './plan/plan.js';

export interface ShrinkOptions {
  readonly signal: AbortSignal;
  /** Called with each smaller plan that is still broken. */
  readonly onStep?: (plan: Plan) => void;
  /** A world that fails only sometimes is played so often before it counts as healed. Default: 2. */
  readonly tries?: number;
}

/** Removes halves, then quarters, and so on, of the troubles and of the jobs. Elements do not depend on each other. */
export async function shrink(
  plan: Plan,
  isBroken: (candidate: Plan) => Promise<boolean>,
  { signal, onStep, tries = 2 }: ShrinkOptions,
): Promise<Plan> {
  let smallest = plan;
  const keeps = async (candidate: Plan) => {
    for (let attempt = 0; attempt < tries && !signal.aborted; attempt += 1) if (await isBroken(candidate)) return true;
    return false;
  };
  async function reduce<Element>(
    list: (of: Plan) => readonly Element[],
    withList: (of: Plan, next: Element[]) => Plan,
  ) {
    for (let size = Math.ceil(list(smallest).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < list(smallest).length; ) {
        const next = list(smallest).filter((_, index) => index < at || index >= at + size);
        const candidate = withList(smallest, next);
        if (signal.aborted) return;
        if (await keeps(candidate)) {
          smallest = candidate;
          onStep?.(smallest);
        } else at += size;
      }
    }
  }
  await reduce(
    ({ jobs }) => jobs,
    (of, jobs) => withoutOrphans({ ...of, jobs }),
  );
  await reduce(
    ({ troubles }) => troubles,
    (of, troubles) => ({ ...of, troubles }),
  );
  return smallest;
}

/** Drops the troubles of jobs that the plan no longer has. */
function withoutOrphans(plan: Plan): Plan {
  const keys = new Set(plan.jobs.map(({ key }) => key));
  return { ...plan, troubles: plan.troubles.filter((one) => !('at' in one) || keys.has(one.at.job)) };
}
