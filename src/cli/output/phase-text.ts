/** Where a job is, in words. */
import type { JobPhase, JobProgress } from '../../../workflows/job/types.js';
import { oneLine } from './terminal-safe.js';

const phases: Readonly<Record<JobPhase, string>> = {
  creating: 'creating the sandbox',
  resuming: 'resuming the sandbox',
  waiting_for_sandbox: 'waiting for the sandbox',
  waiting_for_setup: 'waiting for the setup script',
  putting_files: 'putting files',
  running_commands: 'running commands',
  prompting: 'sending the prompt',
  following: 'the agent works',
  collecting_files: 'collecting files',
  interrupting: 'interrupting the agent',
  stopping: 'stopping the sandbox',
  waiting_for_archive: 'waiting until the sandbox is archived',
  deleting: 'deleting the sandbox',
  ended: 'ended',
};

/** The phase, the sandbox, and how far the prompts are when there are several. */
export function phaseText(progress: Pick<JobProgress, 'phase' | 'sandboxId' | 'prompts'>): string {
  const { sandboxId, prompts } = progress;
  const parts: string[] = [phases[progress.phase] ?? progress.phase];
  if (prompts.length > 1 && progress.phase === 'following') {
    const done = prompts.filter(({ endedAt }) => endedAt !== null).length;
    parts.push(`${done} of ${prompts.length} prompts done`);
  }
  if (sandboxId) parts.push(oneLine(sandboxId));
  return parts.join(' · ');
}

/** Why a job does not go on by itself, and what a person can do. */
export function blockedText(progress: Pick<JobProgress, 'jobId' | 'blocked'>): string {
  const { jobId, blocked } = progress;
  if (!blocked) return '';
  if (blocked.reason === 'outcome_unknown') {
    return [
      `The job waits for your decision, since ${blocked.since}: ${oneLine(blocked.message)}`,
      `  it did take effect:  sandflow jobs resolve ${jobId} --sent${blocked.step === 'create' ? ' --sandbox ID' : ''}`,
      `  it did not:          sandflow jobs resolve ${jobId} --resend`,
      `  give up:             sandflow jobs resolve ${jobId} --abandon`,
    ].join('\n');
  }
  return `The service refuses ${blocked.step}, and the job waits until that is mended, since ${blocked.since}: ${oneLine(blocked.message)}`;
}
