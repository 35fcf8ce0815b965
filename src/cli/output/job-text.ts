/** Describes a job: its progress, what it left behind, what its stop saved. */

import type { PreservedWork } from '../../contract/workflow-safe/preserved-work.js';
import type { DegradedSandbox } from '../../contract/workflow-safe/sandbox-view.js';
import type { JobProgress, UnrenewedAutoStop } from '../../protocol/job/job-progress.js';
import type { CheckRound, CheckRun, LeftBehind, PromptResult } from '../../protocol/job/job-result.js';
import { whatIsLeft } from '../../report/left-words.js';
import { programName } from '../program-name.js';
import { formatDuration } from '../units.js';
import { awaitedStopText, type HeldJob, jobHold } from './job-hold.js';
import { pasteable } from './pasteable.js';
import { oneLine } from './terminal-safe.js';

/** What the job does or waits for, the sandbox and, with several prompts, how many are done. */
export function phaseText(progress: HeldJob & Pick<JobProgress, 'degraded' | 'prompts'>): string {
  const { sandboxId, prompts } = progress;
  const parts: string[] = [jobHold(progress).doing];
  if (prompts.length > 1 && progress.phase === 'following') {
    const done = prompts.filter(({ endedAt }) => endedAt !== null).length;
    parts.push(`${done} of ${prompts.length} prompts done`);
  }
  if (sandboxId) parts.push(oneLine(sandboxId));
  const stop = awaitedStopText(progress);
  if (stop !== undefined) parts.push(stop);
  if (progress.degraded) parts.push('degraded');
  return parts.join(' · ');
}

/** The state of a prompt of a running job, in words. The job does not read the status while the prompt runs. */
export function promptText(
  prompt: Pick<PromptResult, 'status' | 'promptId' | 'startedAt' | 'queuedAt' | 'endedAt'>,
  { phase, since }: Pick<JobProgress, 'phase' | 'since'>,
  nowMs: number,
): string {
  const { status, promptId, startedAt, queuedAt, endedAt } = prompt;
  const begin = startedAt ?? queuedAt;
  const isAtWork = (status === 'queued' || status === 'running') && phase === 'following';
  if (isAtWork) return `the agent is working · ${formatDuration(Math.max(0, nowMs - Date.parse(begin ?? since)))}`;
  if (begin !== null && endedAt !== null) {
    return `${oneLine(status)} after ${formatDuration(Math.max(0, Date.parse(endedAt) - Date.parse(begin)))}`;
  }
  if (status === 'unknown' && promptId !== null) return 'it is unknown how it ended';
  return promptStatuses[status] ?? oneLine(status);
}

const promptStatuses: Readonly<Record<string, string>> = {
  not_sent: 'not sent yet',
  sending: 'being sent',
  queued: 'accepted by the service',
  running: 'accepted by the service',
  unknown: 'it is unknown whether it was sent',
};

/** How the checks of a round ended, in one line. */
export function roundText({ round, passed, runs, promptIndex }: CheckRound): string {
  const when = round === 0 ? 'before the first prompt' : `round ${round}`;
  if (passed) return `${when}: every check ${round === 0 ? 'passes already' : 'passed'}`;
  const failed = runs.filter(({ exitCode }) => exitCode !== 0).map(checkText);
  const next = promptIndex === null ? '' : `; told the agent as prompt ${promptIndex + 1}`;
  return oneLine(`${when}: failed: ${failed.join(', ')}${next}`);
}

/** The command, its exit code, and how long it ran. */
export function checkText({ command, exitCode, durationMs }: CheckRun): string {
  const how = exitCode === null ? 'no exit code' : `exit code ${exitCode}`;
  return oneLine(`${command} (${how}, ${formatDuration(durationMs)})`);
}

/** Why a job is blocked, and what to do about it. */
export function blockedText(progress: Pick<JobProgress, 'jobId' | 'blocked'>): string {
  const { jobId, blocked } = progress;
  if (!blocked) return '';
  if (blocked.reason === 'outcome_unknown') {
    return [
      oneLine(`The job has been waiting for your decision since ${blocked.since}: ${blocked.message}`),
      `  it took effect:  ${programName} jobs resolve ${jobId} --sent${blocked.step === 'create' ? ' --sandbox ID' : ''}`,
      `  it did not:      ${programName} jobs resolve ${jobId} --resend`,
      `  end the job:     ${programName} jobs resolve ${jobId} --abandon`,
    ].join('\n');
  }
  const told = `The service has refused ${blocked.step} since ${blocked.since}; the job waits until this is resolved`;
  return oneLine(`${told}: ${blocked.message}`);
}

/** The sandbox is alive but not fully reachable: why, and where to look. */
export function degradedText(degraded: DegradedSandbox): string {
  const now = 'It is alive, but not fully reachable.';
  return `The sandbox is degraded${sinceAndWhy(degraded)}. ${now} Check: ${programName} sandboxes show ${pasteable(degraded.sandboxId, 'SANDBOX')}`;
}

/** The sandbox may stop by itself during the work: when, and why. */
export function autoStopText({ since, stopsAt, message }: UnrenewedAutoStop): string {
  const when = stopsAt === null ? 'while the job works' : `at ${stopsAt}`;
  return oneLine(
    `The job has not been able to renew the auto-stop since ${since}, so the sandbox may stop ${when}: ${message}`,
  );
}

/** As `degradedText`, for a job that has ended. */
export function wasDegradedText(degraded: DegradedSandbox): string {
  return `degraded: the sandbox ${oneLine(degraded.sandboxId)} was not fully reachable${sinceAndWhy(degraded)}.`;
}

function sinceAndWhy({ reason, since }: DegradedSandbox): string {
  const at = since === null ? '' : ` since ${oneLine(since)}`;
  return `${at}: ${reason === null ? 'the service gives no reason' : oneLine(reason).replace(/\.$/, '')}`;
}

export const keptTexts: Readonly<Record<PreservedWork, string>> = {
  saved: 'work saved',
  stale: 'only older work saved',
  none: 'nothing saved',
};

/** One line: what may still run or exist, why, and how to check or end it. */
export function leftText(left: LeftBehind): string {
  const said = `left behind: ${oneLine(whatIsLeft(left))}. ${oneLine(left.why).replace(/\.?$/, '.')}`;
  if (left.sandboxId === null)
    return `${said} Check: ${programName} sandboxes --name "${pasteable(left.sandboxName ?? '', 'NAME')}"`;
  const id = pasteable(left.sandboxId, 'SANDBOX');
  return left.kind === 'sandbox'
    ? `${said} Stop it: ${programName} stop ${id} --wait`
    : `${said} Check: ${programName} sandboxes show ${id}`;
}
