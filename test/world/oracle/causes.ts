/** Every end of a job has a cause among what happened to it: nothing ends because of what it should outlast. */
import { allFaults, type FaultClass } from '../../slow/matrix/faults/faults.js';
import type { RunPlan, Trouble } from '../plan/plan.js';
import type { Told } from '../players/told.js';
import { expectedEnd } from './expected.js';
import { missedTime } from './missed-time.js';
import { type Broken, hasStruck, isEndOfAny, planOf, troublesOf, type WorldRecord } from './record.js';

const none = { sandbox: '', stop: '', prompt: '', conversation: '', snapshot: '', operation: '' };
const classes = new Map<string, FaultClass>(allFaults(none).map((fault) => [fault.name, fault.class]));

type Wire = Extract<Trouble, { readonly kind: 'wire' }>;
const isWire = (one: Trouble): one is Wire => one.kind === 'wire';
const isOfClass =
  (...meant: readonly FaultClass[]) =>
  (one: Trouble) =>
    isWire(one) && meant.includes(classes.get(one.fault) ?? 'ambiguous');
const isAct =
  (...acts: readonly string[]) =>
  (one: Trouble) =>
    one.kind === 'act' && acts.includes(one.act);

/** The service means these as final. */
export const isRefusal = isOfClass('permanent', 'gone', 'few_tries');
/** The wait for these alone may last for a minute. */
const isLong = (one: Trouble) =>
  isOfClass('throttled_for_long', 'blocked')(one) || (isWire(one) && one.times > 1 && !isHarmless(one));
/** Words that the client does not need to know, and lists that it can do without. */
export const isHarmless = (one: Trouble) =>
  one.kind === 'lag' ||
  one.kind === 'deploy' ||
  one.kind === 'later' ||
  (isWire(one) && one.fault === 'slow') ||
  (isWire(one) && (one.fault === 'unknown-stop' || one.fault === 'unknown-state'));

/** Whether one of these causes explains the outcome of a run. */
function isExplained(record: WorldRecord, { outcome, jobs }: Told, plan: RunPlan): boolean {
  const isOfCommand = jobs.some(({ error }) => error?.message.startsWith('The answer to the command'));
  const hits = troublesOf(record, plan.key);
  const hit = (isMeant: (one: Trouble) => boolean) => hits.some(isMeant);
  const isLasting = hit((one) => isWire(one) && one.times > 3 && !isHarmless(one));
  const wasTaken = hit(isAct('stop', 'resume', 'delete', 'restart')) || hit(({ kind }) => kind === 'newcomer');
  // A machine that somebody has stopped or deleted is not waited for.
  const mayComeBack = hit(isAct('resume', 'restart')) || hit(({ kind }) => kind === 'newcomer');
  const died = hasStruck(record, ({ kind }) => kind === 'death' || kind === 'crash');
  // A task that a worker gets as it shuts down waits for its timeout.
  const isDeployed = hasStruck(record, ({ kind }) => kind === 'deploy');
  // A short auto-stop passes while a renewal is late.
  const isStoppedSoon = plan.ttlSeconds < 60;
  const isShort = plan.deadlineMs < 60_000 || plan.workSeconds * plan.prompts > 10;
  if (outcome === expectedEnd(plan).outcome) return true;
  switch (outcome) {
    case 'rejected':
      return hit(isRefusal) || wasTaken;
    case 'sandbox_failed':
      return hit(isRefusal) || wasTaken || isLasting || isStoppedSoon;
    case 'sandbox_cancelled':
      return hit(isRefusal) || hit(isAct('delete'));
    case 'unverified':
      // A check that the service refuses to run, or whose machine somebody took.
      return hit(isRefusal) || wasTaken || hit(isAct('prompt'));
    case 'prompt_failed':
      return hit(isRefusal) || hit(isAct('resume', 'restart'));
    case 'outcome_unknown':
      return (
        hits.some(
          (one) =>
            ((isWire(one) && one.fault !== 'slow') || one.kind === 'lag') &&
            (!isOfCommand || !('at' in one) || ('endpoint' in one.at && one.at.endpoint === 'runCommand')),
        ) ||
        died ||
        (isStoppedSoon && isOfCommand) ||
        // Without prompt ids, a prompt may remain unknown.
        (!record.plan.service.promptIds && !isOfCommand)
      );
    case 'deadline_exceeded':
      return (
        isShort || died || isDeployed || mayComeBack || hit(isLong) || hits.filter((one) => !isHarmless(one)).length > 2
      );
    case 'cancelled':
      return hit((one) => one.kind === 'message' && one.message === 'cancel');
    default:
      return true;
  }
}

export function brokenCauses(record: WorldRecord): Broken[] {
  if (isEndOfAny(record)) return [];
  return record.told.flatMap((told): Broken[] => {
    const { job, outcome, jobs, isTerminated } = told;
    const plan = planOf(record, job);
    const hits = troublesOf(record, job);
    const isMeant = (one: Trouble) => isRefusal(one) || isLong(one) || one.kind === 'message';
    if (plan?.kind === 'command-line' && !isTerminated && outcome.startsWith('not_started') && !hits.some(isMeant)) {
      return [{ promise: 'every end has a cause', job, what: outcome, late: missedTime(record, told) }];
    }
    if (plan?.kind !== 'run' || isTerminated) return [];
    const why = hits.map((one) => JSON.stringify(one)).join(' ') || 'nothing';
    const said = jobs.flatMap(({ error }) => (error ? [`${error.code}: ${error.message}`] : [])).join('; ');
    const broken = (promise: string, what: string) => [{ promise, job, what: `${what} after ${why}` }];
    if (!isExplained(record, told, plan)) {
      const late = missedTime(record, told);
      return broken('every end has a cause', `ended ${outcome} (${said})`).map((one) => ({ ...one, late }));
    }
    const isStopWord = (one: Trouble) => isWire(one) && one.fault === 'unknown-stop';
    const left = jobs.flatMap((one) => one.left.map(({ why: text }) => text));
    if (hits.length > 0 && hits.every(isStopWord) && outcome === 'completed' && left.length > 0) {
      return broken('an unknown word does no harm', `left ${left.join('; ')}`);
    }
    return [];
  });
}
