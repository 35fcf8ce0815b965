/** Runs the commands of a job in its sandbox, sequentially, each at most once. */

import {
  CancellationScope,
  isCancellation,
  patched,
  sleep,
  TimeoutFailure,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { SandflowActivities } from '../../activities/index.js';
import { executionOf } from '../../src/addresses/addresses.js';
import { outcomeUnknownCode } from '../../src/contract/workflow-safe/service-failure.js';
import { isListed, isUsable } from '../../src/contract/workflow-safe/states.js';
import { failureClassOf } from '../../src/protocol/failure-class.js';
import type { JobError } from '../../src/protocol/job/job-result.js';
import { longestCommandSeconds } from '../../src/protocol/limits.js';
import { headOf, type Text } from '../../src/protocol/stored-text.js';
import { cut } from '../../src/texts/length.js';
import { commands } from '../shared/activity-options.js';
import { ContinueAsNewRequest } from '../shared/continue-as-new.js';
import {
  causeOf,
  JobTermination,
  jobError,
  sandboxFailed,
  serviceFailureOf,
  toJobTermination,
} from '../shared/job-termination.js';
import { summaryOf } from '../shared/text-in-summaries.js';
import { callMachine, endIfMachineLost } from './call-machine.js';
import type { CommandUnderWay } from './carried-job.js';
import type { JobState } from './job-state.js';
import { leaveFirstCopy, resolveUnknownOutcome } from './prompts/await-resolution.js';
import { readSandbox } from './sandbox/wait-until-usable.js';
import { wasReset } from './was-reset.js';

type MarkedEnd = Awaited<ReturnType<SandflowActivities['runMarkedCommand']>>;
type CommandAnswer = Extract<MarkedEnd, { answer: unknown }>['answer'];

/** How many characters of the end of each output are kept. */
export const tailLength = 2_000;
const longestRemovalMs = 30_000;

/**
 * Runs the commands of the job, except those that `run` records as done.
 * @throws JobTermination `sandbox_failed` at the first non-zero exit; `outcome_unknown` if it is unknown whether a
 * command ran, and somebody or the policy decides not to run it again
 */
export async function runCommands(job: JobState, sandboxId: string): Promise<void> {
  const { commands: texts = [] } = job.input;
  if (job.carried.commandsDone >= texts.length) return;
  job.enter('running_commands');
  await withMarkers(job, sandboxId, async () => {
    for (const command of texts.slice(job.carried.commandsDone)) {
      await runCommand(job, sandboxId, command);
      job.carried.commandsDone += 1;
    }
  });
}

/** Runs commands, and then removes their markers, also if the work ends meanwhile. */
export async function withMarkers(job: JobState, sandboxId: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    // The next run reads the marker of the current command.
    if (error instanceof ContinueAsNewRequest) throw error;
    if (CancellationScope.current().consideredCancelled) job.beginCleanUp();
    await CancellationScope.nonCancellable(() => removeMarkers(job, sandboxId));
    throw error;
  }
  await removeMarkers(job, sandboxId);
}

/**
 * Runs one command at most once. One that the input does not list must come before those of the job, and its marker stays
 * until `removeMarkers`.
 * @throws JobTermination as `runCommands`
 */
export async function runCommand(
  job: JobState,
  sandboxId: string,
  command: Text,
  summary = shortened(command),
): Promise<void> {
  const step = `command ${job.carried.commandsDone + 1}`;
  const ended = await runToItsEnd(job, sandboxId, { command, summary, step });
  if (ended === 'sent' || ended.exitCode === 0) return;
  const how = ended.exitCode === null ? 'did not exit by itself' : `exited with ${ended.exitCode}`;
  const said = ended.stderr.trim() || ended.stdout.trim();
  throw sandboxFailed('command_failed', `The command "${summary}" ${how}${said === '' ? '.' : `: ${said}`}`);
}

/** What runs, for people. */
interface What {
  readonly command: Text;
  readonly summary: string;
  /** Shown where summaries hold no text. */
  readonly step: string;
  /** Time limit, in seconds. Default: an hour, or the deadline of the job. */
  readonly timeoutSeconds?: number | undefined;
  /** True if an earlier run may have run it, which a person then decides. Default: if the job was reset. */
  readonly mayHaveRun?: boolean;
}

/**
 * Runs one command to its end, or goes on with the one that an earlier run has begun.
 * @returns `sent` if nobody knows how it ended, and the decision is that it ran
 * @throws JobTermination `sandbox_failed` if the machine was lost meanwhile; `outcome_unknown`
 */
export async function runToItsEnd(job: JobState, sandboxId: string, what: What): Promise<CommandAnswer | 'sent'> {
  for (;;) {
    const underWay = job.carried.command ?? begin(job, sandboxId, 1);
    const ended = await settled(job, sandboxId, underWay, what);
    if (ended === 'resend') {
      begin(job, sandboxId, underWay.generation + 1);
      continue;
    }
    job.carried.command = null;
    if (ended !== 'sent' && ended.exitCode === null && !ended.timedOut) await endIfMachineLost(job, sandboxId);
    return ended;
  }
}

function begin(job: JobState, sandboxId: string, generation: number): CommandUnderWay {
  const markerName = `${ownerOf(sandboxId)}-${job.carried.commandsDone}-${generation}-${uuid4()}`;
  const stopIds = [job.sandbox?.stop?.id ?? null, job.carried.previousStopId];
  const beganAtMs = job.carried.command?.beganAtMs ?? Date.now();
  job.carried.command = { generation, markerName, beganAtMs, stopIds, recover: false, unknown: null };
  return job.carried.command;
}

/**
 * Runs the command with a marker, at most once per marker. If it is certain that the command did not run, the caller
 * sends it again with the next marker.
 */
async function settled(
  job: JobState,
  sandboxId: string,
  underWay: CommandUnderWay,
  what: What,
): Promise<CommandAnswer | 'resend' | 'sent'> {
  if (underWay.unknown) return decide(job, underWay, underWay.unknown);
  try {
    const end = await callMachine(job, sandboxId, 'command', () => send(job, sandboxId, underWay, what));
    if (end.how === 'answered') return end.answer;
    job.carried.command = { ...underWay, recover: true };
    // Reads may lag by this time, so a read may not show yet that the machine was replaced.
    if (end.how === 'not_begun')
      await sleep(job.timing.readLagMs, { summary: 'until a stop of the sandbox would be visible' });
    if (await isSameMachine(job, sandboxId, underWay)) return end.how === 'recovered' ? end.answer : 'resend';
  } catch (error) {
    if (serviceFailureOf(error)?.code !== outcomeUnknownCode) throw error;
    return decide(job, underWay, toJobTermination(error).jobError);
  }
  const message = `The answer to the command "${what.summary}" was lost, and the sandbox was stopped since it was sent.`;
  return decide(job, underWay, jobError(outcomeUnknownCode, message));
}

async function send(
  job: JobState,
  sandboxId: string,
  underWay: CommandUnderWay,
  { command, summary, step, timeoutSeconds: ownSeconds = Math.ceil(job.input.deadlineMs / 1_000), mayHaveRun }: What,
): Promise<MarkedEnd> {
  const timeoutSeconds = Math.min(longestCommandSeconds, ownSeconds);
  const { markerName: name, generation } = underWay;
  const recover = job.carried.command?.recover ?? underWay.recover;
  const isDoubtful = (mayHaveRun ?? wasReset(job.carried)) && generation === 1;
  const marker = { owner: ownerOf(sandboxId), name, recover, wasReset: isDoubtful };
  const input = { sandboxId, body: { command, timeoutSeconds }, keepTail: tailLength, marker };
  try {
    const options = { summary: summaryOf(summary, step), heartbeatTimeout: job.timing.commandSilenceMs };
    return await commands.runMarkedCommand.executeWithOptions(options, [input]);
  } catch (error) {
    if (serviceFailureOf(error)?.maybeSent) job.carried.command = { ...underWay, recover: true };
    throw error;
  }
}

/** @throws JobTermination `outcome_unknown` if the decision is to end the job */
async function decide(job: JobState, underWay: CommandUnderWay, unknown: JobError): Promise<'resend' | 'sent'> {
  job.carried.command = { ...underWay, unknown };
  // At its end, a job waits for nobody.
  const policy = job.cleanUpEndsAtMs === null ? job.input.onUnknownOutcome : 'abandon';
  const { action } = await resolveUnknownOutcome(job, 'command', unknown.message, undefined, policy);
  if (action === 'abandon') throw new JobTermination('outcome_unknown', unknown);
  const why = 'It is unknown whether a command ran; the decision was to run it again.';
  if (action === 'resend') leaveFirstCopy(job, 'command', why);
  return action;
}

async function isSameMachine(job: JobState, sandboxId: string, { stopIds }: CommandUnderWay): Promise<boolean> {
  const sandbox = await readSandbox(job, sandboxId);
  if (sandbox === null || !stopIds.includes(sandbox.stop?.id ?? null)) return false;
  // The marker was read in a running machine a moment ago, whatever an unknown state means.
  return isUsable(sandbox.state) || !isListed(sandbox.state);
}

/** The prefix of all marker names of this job in this sandbox. */
function ownerOf(sandboxId: string): string {
  return `${sandboxId}-${executionOf(workflowInfo().firstExecutionRunId)}`;
}

/**
 * Removes the job's markers, so that no snapshot or fork contains them. Waits only briefly for a machine that does not
 * answer. A machine that is deleted is asked only to know whose failure a passed deadline is.
 */
async function removeMarkers(job: JobState, sandboxId: string): Promise<void> {
  const isDeleted = job.input.end === 'delete';
  if (isDeleted && !(isFromDeadline(job) && patched('class-of-commands'))) return;
  const scheduleToCloseTimeout = Math.min(isDeleted ? 5_000 : longestRemovalMs, job.timing.cleanUpMs / 10);
  const options = { scheduleToCloseTimeout, summary: 'remove the markers of commands' };
  try {
    await commands.removeCommandMarkers.executeWithOptions(options, [sandboxId, ownerOf(sandboxId)]);
  } catch (error) {
    // If markers remain, they do no harm: their names contain this sandbox and this execution.
    if (isFromDeadline(job)) job.deadlineIn = hinderedBy(error) ?? job.deadlineIn;
  }
}

/** True while the job ends the commands that it ran when its deadline passed. */
function isFromDeadline({ deadlineIn, carried, always }: JobState): boolean {
  return deadlineIn === carried.phase && always === undefined;
}

/** What ran no command at the deadline, as the failed removal shows; undefined if it does not. */
function hinderedBy(error: unknown): JobState['deadlineIn'] {
  // The commands had ended before the deadline.
  if (isCancellation(error)) return 'blocked';
  const cause = causeOf(error);
  const failure = serviceFailureOf(cause instanceof TimeoutFailure ? cause.cause : cause);
  if (failure?.meaning === 'unavailable') return 'blocked';
  const isLost = failure && (failure.status === 404 || failureClassOf({ outcome: '', error: failure }) === 'machine');
  return isLost ? 'waiting_for_sandbox' : undefined;
}

/** The beginning of a command, in one line. */
export function shortened(command: Text): string {
  return cut(headOf(command, 500).trim().split('\n', 1)[0] ?? '', 80);
}
