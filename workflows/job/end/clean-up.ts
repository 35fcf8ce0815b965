/**
 * The cleanup of every job: interrupts running prompts, collects the remaining files, ends the sandbox as requested,
 * and reports what it could not do. It has a time limit, even if the service does not answer.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { JobEnd } from '../../../src/protocol/job/job-input.js';
import type { CollectedFile, JobError, JobOutcome } from '../../../src/protocol/job/job-result.js';
import { lacksAnswer } from '../../../src/protocol/shortfall.js';
import { jobError, toJobTermination } from '../../shared/job-termination.js';
import { reads } from '../../shared/reads.js';
import { requestStop } from '../../stop/request-stop.js';
import type { JobPrompt } from '../carried-job.js';
import type { JobState } from '../job-state.js';
import { interruptPrompts, nameRunningPrompts } from '../prompts/interrupt-prompts.js';
import { promptRecordKey } from '../prompts/prompt-query.js';
import { resultOf } from '../report.js';
import { readSandbox } from '../sandbox/wait-until-usable.js';
import { unwatchSandbox } from '../sandbox/watch-sandbox.js';
import { mayBeOfEarlierRun } from '../was-reset.js';
import { collectDiff, nameMissingDiff } from './collect-diff.js';
import { collectFiles, nameMissingFiles } from './collect-files.js';
import { deleteSandbox } from './delete-sandbox.js';
import { handOverStop, mustHandOver } from './hand-over-stop.js';
import { hasEndedAsRequested } from './has-ended.js';
import { runAlways } from './last-commands.js';
import { stopSandbox } from './stop-sandbox.js';
import { storeTranscriptOfKept } from './transcript.js';
import { problemWithin, wasCutShort } from './within-time.js';

/** Fractions of the cleanup time. The rest is for the stop or the deletion of the sandbox. */
const share = { interrupt: 1 / 8, collect: 1 / 4, store: 1 / 8, lost: 1 / 8, handOver: 1 / 8, always: 1 / 8 } as const;

export interface JobEnding {
  readonly outcome: JobOutcome;
  readonly error: JobError | null;
  /** True if prompts may be running. */
  readonly cutShort: boolean;
}

/** Cleans up after the job. @returns why the cleanup is incomplete, or null */
export async function cleanUp(job: JobState, ending: JobEnding): Promise<JobError | null> {
  const wholeMs = Math.max(1, job.beginCleanUp() - Date.now());
  const sandboxId = job.sandbox?.id;
  let problem: JobError | null = null;
  if (sandboxId !== undefined) {
    job.reached('ending');
    if (ending.cutShort) await within(wholeMs * share.interrupt, () => endPrompts(job, sandboxId));
    await collectWhatIsLeft(job, sandboxId, wholeMs * share.collect);
    const alwaysMs = wholeMs * share.always;
    if (job.input.always) await within(alwaysMs, () => runAlways(job, sandboxId, alwaysMs));
    const { beforeEnd } = job;
    if (beforeEnd) {
      const untilMs = Date.now() + wholeMs * share.store;
      job.resultToStore = { ...beforeEnd(resultOf(job, ending.outcome, ending.error)), untilMs };
    }
    let end = endOf(job, ending);
    const handOverMs = job.input.escalate === undefined ? 0 : wholeMs * share.handOver;
    problem = await within(Math.max(1, leftMs(job) - handOverMs), async () => {
      await endSandbox(job, sandboxId, end);
      const endNow = endOf(job, ending);
      if (endNow === end) return;
      end = endNow;
      await endSandbox(job, sandboxId, end);
    });
    if (problem === null) job.reached('ended');
    nameWhatIsLeft(job, problem, end);
    if (end === 'stop') await handOverWhatIsLeft(job, sandboxId, problem, handOverMs);
  }
  if (job.carried.watched) await within(wholeMs * share.lost, () => unwatchSandbox(job));
  if (job.carried.lost.length > 0) await within(wholeMs * share.lost, () => stopLostSandboxes(job));
  nameUnconfirmed(job);
  if (problem !== null || job.carried.left.length === 0) return problem;
  return jobError('clean_up_unfinished', `This needs attention: ${job.carried.left[0]?.why ?? ''}`);
}

async function endPrompts(job: JobState, sandboxId: string): Promise<void> {
  await recallPrompts(job, sandboxId);
  await interruptPrompts(job);
}

/**
 * An earlier run may have sent prompts that this run did not come to, because it ended before. Their status is then what
 * their records say.
 */
async function recallPrompts(job: JobState, sandboxId: string): Promise<void> {
  if (!mayBeOfEarlierRun(job)) return;
  for (const [index, prompt] of job.carried.prompts.entries()) {
    if (prompt.status !== 'not_sent') continue;
    const record = await reads.readPromptRecord(promptRecordKey(job, sandboxId, index));
    if (record === null || record.phase === 'not_sent') continue;
    const { promptId, conversationId } = record.accepted ?? prompt;
    Object.assign(prompt, { promptId, conversationId, status: record.accepted ? 'queued' : 'unknown' });
  }
}

function leftMs(job: JobState): number {
  return Math.max(1, (job.cleanUpEndsAtMs ?? 0) - Date.now());
}

/** Runs a step with a time limit, in ms. @returns why it did not end, or null */
const within = (ms: number, step: () => Promise<void> | undefined) =>
  problemWithin(ms, step, 'It did not end within the cleanup time');

/**
 * A deletion would destroy what the job has produced but could not collect. A person who cancels twice wants that, and
 * may do so while the sandbox is being stopped instead. If the work did not complete, a file that was never written is
 * no loss.
 */
function endOf(job: JobState, { outcome }: JobEnding): JobEnd {
  const { input, skipsCollecting, carried } = job;
  if (input.end !== 'delete' || skipsCollecting || !mayHaveWritten(job)) return input.end;
  if (carried.prompts.some(isNotShown)) return 'stop';
  const wanted = carried.diff === null ? carried.files : [...carried.files, carried.diff];
  const isLoss = ({ error, missing }: CollectedFile) => error !== null && (outcome === 'completed' || !missing);
  return wanted.some(isLoss) ? 'stop' : 'delete';
}

/** True for a prompt that the service accepted, and of which it shows no answer: the agent may have worked, or work. */
function isNotShown(prompt: JobPrompt): boolean {
  return (prompt.status === 'unknown' && prompt.note !== undefined) || lacksAnswer(prompt);
}

/** False if the sandbox holds nothing but what it was created with. */
function mayHaveWritten(job: JobState): boolean {
  const { prompts, commandsDone, command, rounds = [] } = job.carried;
  const hasRun =
    job.always !== undefined ||
    commandsDone > 0 ||
    command !== null ||
    rounds.length > 0 ||
    prompts.some(({ status }) => status !== 'not_sent');
  return hasRun || job.input.source.kind === 'existing' || mayBeOfEarlierRun(job);
}

async function endSandbox(job: JobState, sandboxId: string, end: JobEnd): Promise<void> {
  if (end === 'stop') await (job.input.end === 'delete' ? stopInstead(job, sandboxId) : stopSandbox(job, sandboxId));
  if (end === 'delete') await deleteSandbox(job, sandboxId);
  if (end === 'keep') await storeTranscriptOfKept(job, sandboxId);
}

/**
 * Stops a sandbox that holds work which could not be collected. A second cancel, which wants it deleted, ends the wait.
 */
async function stopInstead(job: JobState, sandboxId: string): Promise<void> {
  const scope = new CancellationScope();
  job.onSkipCollecting = () => scope.cancel();
  try {
    await scope.run(() => stopSandbox(job, sandboxId));
  } catch (error) {
    if (!job.skipsCollecting) throw error;
  }
}

async function collectWhatIsLeft(job: JobState, sandboxId: string, ms: number): Promise<void> {
  const hasDiff = job.input.collectDiff === undefined || job.carried.diff !== null;
  if (job.carried.files.length >= job.input.collect.length && hasDiff) return;
  const scope = new CancellationScope({ cancellable: true, timeout: Math.max(1, Math.round(ms)) });
  job.onSkipCollecting = () => scope.cancel();
  let why = 'The job ended before it could be collected';
  try {
    if (!job.skipsCollecting) {
      await scope.run(async () => {
        await collectFiles(job, sandboxId, true);
        await collectDiff(job, sandboxId, true);
      });
    }
  } catch (error) {
    if (!wasCutShort(scope, error)) why = toJobTermination(error).jobError.message;
  }
  if (job.skipsCollecting) why = 'It was skipped by a second cancel';
  nameMissingFiles(job, why);
  nameMissingDiff(job, why);
}

function nameWhatIsLeft(job: JobState, problem: JobError | null, end: JobEnd): void {
  const {
    sandbox,
    deletion,
    carried: { stop },
  } = job;
  if (sandbox === null) return;
  const { id: sandboxId, name: sandboxName } = sandbox;
  const hasEnded = hasEndedAsRequested({ sandboxId, stop, deletion }, end);
  if (hasEnded && end !== job.input.end) {
    const why = job.carried.prompts.some(isNotShown)
      ? 'It was stopped and not deleted, because it may hold the work of a prompt that the service does not show.'
      : 'It was stopped and not deleted, because a file could not be collected. Fetch the file, then delete it.';
    job.leave({ kind: 'sandbox', sandboxId, sandboxName, why });
  }
  if (hasEnded && end !== 'keep') return;
  nameRunningPrompts(job);
  if (job.carried.command !== null) {
    const why = 'A command was still running when the job ended.';
    job.leave({ kind: 'command', sandboxId, sandboxName, why });
  }
  if (hasEnded) return;
  const status = end === 'stop' ? stop?.status : deletion?.status;
  const seen = status === undefined ? 'was not accepted' : `was last seen ${status}`;
  const reason = (end === 'stop' ? stop?.error : deletion?.error) ?? problem?.message;
  const why = `The ${end === 'stop' ? 'stop' : 'deletion'} ${seen}${reason ? `: ${reason.replace(/\.$/, '')}` : ''}.`;
  job.leave({ kind: 'sandbox', sandboxId, sandboxName, why });
}

/** Gives a stop that has not ended to a workflow that escalates it. */
async function handOverWhatIsLeft(
  job: JobState,
  sandboxId: string,
  problem: JobError | null,
  ms: number,
): Promise<void> {
  if (!mustHandOver(job, sandboxId, problem)) return;
  await within(Math.max(1, ms), async () => {
    const follower = await handOverStop(job, sandboxId);
    const told = job.carried.left.find((one) => one.kind === 'sandbox' && one.sandboxId === sandboxId);
    if (follower !== null && told) job.leave({ ...told, why: `${told.why} ${follower}` });
  });
}

function nameUnconfirmed(job: JobState): void {
  if (job.carried.unconfirmedName === null) return;
  const why = 'It is unknown whether it was created: the service did not answer, or refused the search for its name.';
  job.leave({ kind: 'sandbox', sandboxId: null, sandboxName: job.carried.unconfirmedName, why });
}

/** Stops sandboxes that could not be found after their create, but have appeared since. */
async function stopLostSandboxes(job: JobState): Promise<void> {
  const { sandbox } = job;
  const why = 'It was created, but later reads did not find it.';
  for (const { id, name } of job.carried.lost) job.leave({ kind: 'sandbox', sandboxId: id, sandboxName: name, why });
  for (const { id, name } of job.carried.lost) {
    const found = await readSandbox(job, id);
    job.sandbox = sandbox;
    if (found === null || found.state === 'cancelled') continue;
    const answer = await requestStop(job, { sandboxId: id, timing: job.timing, memory: { asked: null } });
    const done =
      answer === 'gone' ? 'it was gone' : `its stop was requested (${answer.stop?.id ?? 'already archived'})`;
    job.leave({ kind: 'sandbox', sandboxId: id, sandboxName: name, why: `${why} At the end of the job, ${done}.` });
  }
}
