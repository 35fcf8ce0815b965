/** Draws who and what meets the escalation of a failing stop. */
import fc from 'fast-check';
import { lostAnswers } from './draw-fault.js';
import { mostly, often } from './draw-job.js';
import { type CallOfJob, crashTimes, type StopPlan, type Trouble } from './plan.js';

type WithoutKey<T> = T extends unknown ? Omit<T, 'key'> : never;
type Drawn = readonly WithoutKey<Trouble>[];

const resume = { endpoint: 'resumeSandbox', activity: 'resumeFailingStop', nth: 1 } as const;
const deletion = { endpoint: 'deleteSandbox', activity: 'deleteFailingStop', nth: 1 } as const;

/** The calls of the steps, and of the stop that follows a resume. */
function writesOf({ escalation, callers }: StopPlan): readonly Omit<CallOfJob, 'job'>[] {
  const has = (action: string) => escalation?.steps.includes(action) === true;
  const nextStop = { endpoint: 'stopSandbox', activity: 'stopSandbox', nth: callers + 1 } as const;
  return [...(has('resume') ? [resume, nextStop] : []), ...(has('delete') ? [deletion] : [])];
}

const refusals = ['forbidden', 'rate_limited', 'rate_limited+retry-after', 'limit_reached', 'http_500', 'page-503'];

/** @param jobs stops that escalate */
export function escalationTrouble(jobs: readonly StopPlan[]): fc.Arbitrary<Drawn> {
  const calls = jobs.flatMap((plan) => writesOf(plan).map((write) => ({ job: plan.key, write })));
  return fc.constantFrom(...calls).chain(({ job, write }) => {
    const at: CallOfJob = { job, ...write };
    /** The last read before the call. */
    const check: CallOfJob = { job, endpoint: 'getSandbox', activity: write.activity, nth: write.nth };
    /** One of the reads by which the workflow watches the stop. */
    const anyRead = mostly(2, 1, 3, 4, 6).map(
      (nth): CallOfJob => ({ job, endpoint: 'getSandbox', activity: 'getSandbox', nth }),
    );
    const act = fc.record({
      kind: fc.constant('act' as const),
      at: fc.oneof(fc.constant(at), fc.constant(check), anyRead),
      act: often(...(['resume', 'resume', 'restart', 'delete', 'stop', 'prompt'] as const)),
      when: often('before' as const, 'after' as const),
    });
    const lost = fc.record({
      kind: fc.constant('wire' as const),
      at: fc.constant(at),
      fault: often(...lostAnswers),
      times: mostly(1, 2),
    });
    return fc.oneof(
      act.map((one): Drawn => [one]),
      lost.map((one): Drawn => [one]),
      fc.tuple(act, lost).map((both): Drawn => both),
      anyRead.map((read): Drawn => [{ kind: 'act', at: read, act: 'lease', when: 'before' }]),
      anyRead.map((read): Drawn => [{ kind: 'newcomer', at: read, brings: 'run' }]),
      often(...refusals)
        .chain((fault) => mostly(1, 3).map((times) => ({ kind: 'wire' as const, at, fault, times })))
        .map((one): Drawn => [one]),
      often(...crashTimes).map((when): Drawn => [{ kind: 'crash', at, when, part: 'worker' }]),
      often(800, 2_300).map((ms): Drawn => [{ kind: 'lag', at, ms }]),
      fc.constant<Drawn>([{ kind: 'message', at, message: 'cancel' }]),
    );
  });
}
