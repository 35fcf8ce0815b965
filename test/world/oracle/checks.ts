/** Promises about checks: each runs once a round, its failure is one prompt, and the outcome says what the rounds prove. */
import type { JobResult } from '../../../workflows/index.js';
import type { RunPlan } from '../plan/plan.js';
import { mendText } from '../players/checks.js';
import type { Told } from '../players/told.js';
import { expectedEnd } from './expected.js';
import { promptsOf } from './prompts.js';
import { type Broken, isEndOfAny, planOf, troublesOf, type WorldRecord, wasDisturbed } from './record.js';

export function brokenChecks(record: WorldRecord): Broken[] {
  return record.told.flatMap((told) => {
    const plan = planOf(record, told.job);
    const [result] = told.jobs;
    if (plan?.kind !== 'run' || !plan.checks || told.isTerminated || !result) return [];
    const broken = (promise: string, what: string | undefined): Broken[] =>
      what === undefined ? [] : [{ promise, job: told.job, what }];
    return [
      ...broken('a check runs once a round', runsWrongly(record, result)),
      ...broken('a failed check is one prompt', promptsWrongly(record, told, result)),
      ...broken('the result says what is', provesWrongly(result)),
      ...broken('an undisturbed job ends as planned', endsOtherwise(record, plan, result)),
    ];
  });
}

/** True if the newest round decided the outcome. */
const isDecided = ({ outcome }: JobResult) => outcome === 'completed' || outcome === 'unverified';

function runsWrongly(record: WorldRecord, result: JobResult): string | undefined {
  const { outcome, rounds = [], jobId } = result;
  const runs = record.checkRuns.get(jobId) ?? 0;
  // The end of the job may come while the check of the next round runs.
  const most = rounds.length + (isDecided(result) ? 0 : 1);
  if (runs >= rounds.length && runs <= most) return undefined;
  return `ended ${outcome} with ${rounds.length} rounds, and its check ran ${runs} times`;
}

function promptsWrongly(record: WorldRecord, told: Told, result: JobResult): string | undefined {
  // In its own sandbox a job takes an equal prompt of somebody else for its own.
  if (troublesOf(record, told.job).some((one) => one.kind === 'act' && one.act === 'prompt')) return undefined;
  const asked = (result.rounds ?? []).filter(({ promptIndex }) => promptIndex !== null).length;
  const sent = promptsOf(record, told).filter(({ text }) => text.startsWith(mendText(told.job))).length;
  if (sent === asked || (!isDecided(result) && sent === asked - 1)) return undefined;
  return `ended ${result.outcome} with ${asked} prompts of failed checks, and the service has ${sent}`;
}

function provesWrongly({ outcome, rounds = [] }: JobResult): string | undefined {
  const isPassed = rounds.at(-1)?.passed === true;
  if (outcome === 'completed' && !isPassed) return 'says completed, and its last round did not pass';
  return outcome === 'unverified' && isPassed ? 'says unverified, and its last round passed' : undefined;
}

/** `brokenOutcomes` judges the outcome. */
function endsOtherwise(record: WorldRecord, plan: RunPlan, result: JobResult): string | undefined {
  const expected = expectedEnd(plan);
  const { outcome, error, rounds = [], jobId } = result;
  if (isEndOfAny(record) || wasDisturbed(record, jobId) || outcome !== expected.outcome) return undefined;
  const shown = rounds.map(({ passed }) => passed);
  // A machine or a worker that is late may leave something behind, whatever the rounds prove.
  const code = error && error.code !== 'clean_up_unfinished' ? error.code : null;
  const isMeant = shown.join() === expected.rounds?.join() && code === expected.code;
  const planned = `planned were ${expected.code} and ${expected.rounds?.join()}`;
  return isMeant ? undefined : `ended ${outcome} (${error?.code}) after rounds ${shown.join()}; ${planned}`;
}
