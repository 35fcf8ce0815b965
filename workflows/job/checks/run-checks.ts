/**
 * Runs the checks of a job: once before the first prompt, and after the prompts of each round. If a check fails, its
 * output is the next prompt, until the checks pass or the job has no further round.
 *
 *     before ──► prompts ──► checks ──► all passed: completed
 *                   ▲           ├─────► the last round, or the same failure again: unverified
 *                   └───────────┘ the failure is the next prompt
 */
import type { CheckRound } from '../../../src/protocol/job/job-result.js';
import type { Text } from '../../../src/protocol/stored-text.js';
import { endOf } from '../../../src/texts/length.js';
import { JobTermination, jobError, serviceFailureOf, toJobTermination } from '../../shared/job-termination.js';
import { countRound } from '../../shared/metrics.js';
import type { JobState } from '../job-state.js';
import { runPrompts } from '../prompts/run-prompts.js';
import { withMarkers } from '../run-commands.js';
import { hasFailed, hasVerdict, notStartedOf, promptOf, verdictOf } from './judge-round.js';
import { failureText, runTold } from './told-command.js';

/** How much of the outputs of one round the job keeps, in bytes; its checks share it. */
const roundOutputBytes = 8_000;
/** How much of an output an error quotes, in bytes. */
const quotedBytes = 2_000;

/**
 * Runs the checks once before the first prompt, if the job has checks and wants that. It does not matter whether they
 * pass.
 * @throws JobTermination `unverified` if one cannot start: nothing could prove the work, which would cost all the same
 */
export async function runChecksBefore(job: JobState, sandboxId: string): Promise<void> {
  const { checks = [], checkBefore = true } = job.input;
  if (checks.length === 0 || !checkBefore || job.carried.rounds !== undefined) return;
  const round = await runRound(job, sandboxId, checks).catch((error: unknown) => {
    const failure = serviceFailureOf(error);
    // Whatever else the service refuses, such as a call that the key may not make, says nothing of the check.
    if (failure?.meaning !== 'permanent' || ![400, 413, 422].includes(failure.status ?? 0)) throw error;
    const { jobError: refusal } = toJobTermination(error);
    const message = `The service refuses to run the checks: ${failure.message}`;
    throw new JobTermination('unverified', { ...refusal, code: notStarted, message });
  });
  const stuck = notStartedOf(round);
  if (stuck) throw new JobTermination('unverified', jobError(notStarted, `${failureText(stuck)}: it cannot start`));
}

const notStarted = 'check_not_started';

/**
 * Runs the prompts, and then the checks, in as many rounds as it takes and the job may have.
 * @returns why the work is not proven; null if it is, or without checks
 */
export async function runRounds(job: JobState, sandboxId: string): Promise<JobTermination | null> {
  const { checks = [], rounds: most = 1, checkPrompt } = job.input;
  if (checks.length === 0) {
    await runPrompts(job, sandboxId);
    return null;
  }
  while (!hasVerdict(job.carried)) {
    if (job.carried.checking == null) await runPrompts(job, sandboxId);
    const round = await runRound(job, sandboxId, checks);
    if (verdictOf(job.carried.rounds ?? [], most) !== 'next_round') break;
    const promptIndex = job.addPrompt({ ...job.steps.at(-1), prompt: promptOf(round, checkPrompt) });
    job.carried.rounds?.splice(-1, 1, { ...round, promptIndex });
    job.takesPrompts = true;
  }
  return unprovenBy(job.carried.rounds ?? [], most);
}

/** Runs the checks of a round, except those that an earlier run has recorded. All of them, so that all failures are told. */
async function runRound(job: JobState, sandboxId: string, checks: readonly Text[]): Promise<CheckRound> {
  const { carried } = job;
  carried.checking ??= [];
  const runs = carried.checking;
  job.enter('checking');
  // While the checks run, somebody may stop and resume the sandbox.
  job.seenAtEnd = undefined;
  const outputBytes = Math.floor(roundOutputBytes / checks.length);
  await withMarkers(job, sandboxId, async () => {
    for (const [index, check] of checks.entries()) {
      if (index >= runs.length)
        runs.push(await runTold(job, sandboxId, check, { step: `check ${index + 1}`, outputBytes, mayHaveRun: false }));
    }
  });
  const { checkBefore = true } = job.input;
  const ended = carried.rounds ?? [];
  const round = { round: ended.length + (checkBefore ? 0 : 1), passed: !runs.some(hasFailed), runs, promptIndex: null };
  carried.rounds = [...ended, round];
  carried.checking = null;
  countRound(round);
  return round;
}

function unprovenBy(rounds: readonly CheckRound[], most: number): JobTermination | null {
  const verdict = verdictOf(rounds, most);
  const last = rounds.at(-1);
  const failed = last?.runs.find(hasFailed);
  if (verdict === 'passed' || last === undefined || failed === undefined) return null;
  const [code, when] =
    verdict === 'repeated'
      ? (['check_repeated', `in round ${last.round} as in the one before`] as const)
      : (['check_failed', `in round ${last.round} of ${most}`] as const);
  const said = failed.output === '' ? '.' : `: ${endOf(failed.output, quotedBytes)}`;
  return new JobTermination('unverified', jobError(code, `${failureText(failed)} ${when}${said}`));
}
