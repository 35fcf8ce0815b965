/** `sandflow jobs watch`, `prompt`, `cancel` and `resolve`. */

import type { Resolution } from '../../protocol/messages.js';
import type { CommandContext } from '../command.js';
import { askToCancel, type CancelAsked } from '../connect/ask-to-cancel.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodeOfEnd } from '../exit-codes.js';
import type { WatchEnd } from '../output/finish.js';
import { leftText } from '../output/job-text.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { readOnePrompt } from '../run/read-prompts.js';
import { parseGetPairs, requireGetPlaces } from '../settings/file-pairs.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { requireSandboxId, UsageError } from '../usage-error.js';
import type { CancelJobOptions, PromptJobOptions, ResolveJobOptions, WatchJobOptions } from './options.js';

/** @returns the exit code */
export async function watchAgain(jobId: string, options: WatchJobOptions, context: CommandContext): Promise<number> {
  const watchDeadlineMs = parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  // Usage errors must surface before anything starts.
  await requireGetPlaces(parseGetPairs(options.get), context.io.cwd);
  return withPlatform(context, { quiet: options.quiet }, async (platform, reporter) => {
    const { seeThrough } = await import('../run/run-job.js');
    const job = { deployment: platform.config.deployment, jobId };
    return seeThrough(platform, job, options, { context, reporter, watchDeadlineMs });
  });
}

export async function sendPrompt(
  jobId: string,
  given: string | undefined,
  options: PromptJobOptions,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  const { provider, model, effort: reasoningEffort, updateId, json } = options;
  const prompt = await readOnePrompt(given, options, io);
  const { index } = await withPlatform(context, { needsWorker: true }, async (platform) => {
    const { promptJob } = await import('../../workflow-client/jobs/job-client.js');
    const { temporal, config, sharedResults: results } = platform;
    const job = { deployment: config.deployment, jobId };
    return promptJob(temporal, job, { prompt, provider, model, reasoningEffort }, { results, updateId });
  });
  if (json) printJson(io.stdout, { jobId, index, error: null });
  else io.stderr.write(`Job ${jobId} accepted the prompt (number ${index + 1}).\n`);
}

/**
 * Safe to repeat: for a job that has ended, it reports how.
 * @returns the exit code
 */
export async function cancelAndReport(
  jobId: string,
  { wait = false, json }: CancelJobOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const { asked, end } = await withPlatform(context, { needsWorker: wait }, async (platform, reporter) => {
    const job = { deployment: platform.config.deployment, jobId };
    const { cancelJob } = await import('../../workflow-client/jobs/job-client.js');
    const asked = await askToCancel(() => cancelJob(platform.temporal, job), 'job_ended');
    if (!wait && asked !== 'ended') return { asked, end: undefined };
    if (asked === 'again') reporter.notice(againText(jobId));
    const { watchJob } = await import('../run/watch-job.js');
    const watching = { reporter, interrupted: io.interrupted, look: asked !== 'ended' };
    return { asked, end: await watchJob(platform, job, watching) };
  });
  const result = end?.kind === 'ended' ? end.result : null;
  const error = end?.kind === 'broken' ? end.error : null;
  const left = result?.left ?? [];
  if (json) printJson(io.stdout, { jobId, outcome: result?.outcome ?? null, again: asked === 'again', left, error });
  io.stderr.write(`${oneLine(cancelText(jobId, asked, end))}\n`);
  for (const one of left) io.stderr.write(`  ${leftText(one)}\n`);
  if (end?.kind === 'detached') return exitCodeOfEnd(end);
  // Whoever cancels a job does not ask for its outcome.
  return exitCodeOfEnd({ kind: 'ended', isDone: left.length === 0 && error === null });
}

function cancelText(jobId: string, asked: CancelAsked, end: WatchEnd | undefined): string {
  const had = asked === 'ended' ? 'had already ended' : 'ended';
  if (end?.kind === 'ended') return `Job ${jobId} ${had}: ${end.result.outcome}.`;
  if (end?.kind === 'broken') return `Job ${jobId} ${had}. ${end.error.message}`;
  if (asked === 'again') return againText(jobId);
  return `Cancelling job ${jobId}. It collects its files first; cancel again to skip that. What it waits for: ${programName} jobs show ${jobId}`;
}

function againText(jobId: string): string {
  return `Job ${jobId} was already being cancelled; it now skips collecting files.`;
}

export async function resolveCall(
  jobId: string,
  resolution: Resolution,
  options: Pick<ResolveJobOptions, 'updateId' | 'json'>,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  const { step } = await withPlatform(context, { needsWorker: true }, async ({ temporal, config }) => {
    const { resolveJob } = await import('../../workflow-client/jobs/job-client.js');
    return resolveJob(temporal, { deployment: config.deployment, jobId }, resolution, { updateId: options.updateId });
  });
  if (options.json) printJson(io.stdout, { jobId, step, action: resolution.action, error: null });
  else io.stderr.write(`Resolved the ${step} of job ${jobId}: ${resolution.action}.\n`);
}

/** @throws UsageError */
export function resolutionOf(options: ResolveJobOptions): Resolution {
  const { sandbox: sandboxId, conversation: conversationId, promptId } = options;
  const actions = (['sent', 'resend', 'abandon'] as const).filter((action) => options[action]);
  const [action] = actions;
  if (action === undefined || actions.length > 1) {
    throw new UsageError('Use exactly one of --sent, --resend and --abandon.');
  }
  if (action !== 'sent' && (sandboxId ?? conversationId ?? promptId) !== undefined) {
    throw new UsageError('--sandbox, --conversation and --prompt-id require --sent.');
  }
  if (sandboxId !== undefined) requireSandboxId(sandboxId, '--sandbox');
  return { action, sandboxId, conversationId, promptId };
}
