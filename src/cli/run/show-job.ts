/** `sandflow jobs show`. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import { chainStart } from '../../temporal/chain-start.js';
import { describeJob, type JobAddress, jobProgress } from '../../workflow-client/jobs/job-client.js';
import type { CommandContext, JsonOption } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import type { CliIo } from '../io.js';
import { type FinishOptions, finish } from '../output/finish.js';
import { jobHold } from '../output/job-hold.js';
import { type JobLinks, linksOf, linksText, nextWhileRunning } from '../output/job-links.js';
import { emptyReport } from '../output/job-report.js';
import { autoStopText, blockedText, degradedText, phaseText, promptText, roundText } from '../output/job-text.js';
import { printJson } from '../output/json.js';
import type { Reporter } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { formatDuration } from '../units.js';
import { keptNotice } from './kept-sandbox.js';
import { waitingCalls, waitingText } from './waiting-calls.js';
import { watchJob } from './watch-job.js';

/** @returns the exit code of the outcome if the job has ended, otherwise 0 */
export function showJob(jobId: string, options: JsonOption, context: CommandContext): Promise<number> {
  const { io } = context;
  return withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
    const job = { deployment: platform.config.deployment, jobId };
    const links = linksOf(job, platform.ui);
    const description = await describeJob(platform.temporal, job);
    if (description.status.name !== 'RUNNING') {
      return showEnd(platform, job, { io, reporter, json: options.json === true, linksInJson: true });
    }
    const progress = await jobProgress(platform.temporal, job).catch((error: unknown) => {
      const isSilent = error instanceof SandflowError && error.code === 'no_worker';
      if (isSilent && !options.json) for (const line of knownOf(description, job, links)) io.stdout.write(`${line}\n`);
      throw error;
    });
    const { sandboxId, prompts, rounds = [], wakes, apiCalls } = progress;
    const waitingFor = waitingCalls(description, job, progress);
    const startedAt = chainStart(description);
    if (options.json) {
      const known = { sandboxId, prompts, rounds, wakes, apiCalls, durationMs: Date.now() - startedAt.getTime() };
      printJson(io.stdout, { ...emptyReport(jobId, null), ...known, ...links, progress, waitingFor });
      return exitCodes.done;
    }
    for (const line of linesOf(progress, { links, startedAt, nowMs: Date.now() })) {
      io.stdout.write(`${line}\n`);
    }
    if (progress.degraded) io.stdout.write(`${degradedText(progress.degraded)}\n`);
    if (progress.autoStop) io.stdout.write(`${autoStopText(progress.autoStop)}\n`);
    if (progress.blocked) io.stdout.write(`${blockedText(progress)}\n`);
    for (const call of waitingFor) io.stdout.write(`${waitingText(call)}\n`);
    io.stderr.write(`${nextWhileRunning(jobId, jobHold(progress, waitingFor).next)}\n`);
    return exitCodes.done;
  });
}

/** Shows the result of a job that has ended. @returns the exit code of its outcome */
export async function showEnd(
  platform: Platform,
  job: JobAddress,
  {
    io,
    reporter,
    json,
    ...more
  }: Pick<FinishOptions, 'json' | 'linksInJson' | 'isolation'> & {
    readonly io: Pick<CliIo, 'stdout' | 'stderr' | 'interrupted'>;
    readonly reporter: Reporter;
  },
): Promise<number> {
  const end = await watchJob(platform, job, { reporter, interrupted: io.interrupted, look: false });
  const files = end.kind === 'ended' ? end.result.files.map((file) => ({ ...file, localPath: null })) : [];
  return finish(end, io, {
    ...{ jobId: job.jobId, json, quiet: false, files, readWhole: platform.results.get },
    kept: await keptNotice(platform, end),
    links: linksOf(job, platform.ui),
    ...more,
  });
}

/** What Temporal itself knows of a running job, for people. */
export function knownOf(
  description: Pick<WorkflowExecutionDescription, 'raw' | 'startTime' | 'memo'>,
  job: JobAddress,
  links: JobLinks,
): string[] {
  return [
    'It runs, but no worker answers. What Temporal knows:',
    `  started ${chainStart(description).toISOString()}`,
    `  ${linksText(links)}`,
    // A create that is still repeated has made no sandbox that the job knows of.
    ...waitingCalls(description, job, { sandboxId: null }).map((call) => `  ${waitingText(call)}`),
  ];
}

/** The progress of a running job, for people. */
export function linesOf(
  progress: JobProgress,
  { links, startedAt, nowMs }: { readonly links: JobLinks; readonly startedAt: Date; readonly nowMs: number },
): string[] {
  const passed = (since: number) => formatDuration(Math.max(0, nowMs - since));
  const left = formatDuration(Math.max(0, Date.parse(progress.deadlineAt) - nowMs));
  return [
    oneLine(`${phaseText(progress)} · for ${passed(Date.parse(progress.since))}`),
    oneLine(`  started ${startedAt.toISOString()}, ${passed(startedAt.getTime())} ago; its deadline is in ${left}`),
    `  ${linksText(links)}`,
    ...progress.prompts.map((prompt, index) => `  prompt ${index + 1}: ${promptText(prompt, progress, nowMs)}`),
    ...(progress.rounds ?? []).map((round) => `  ${roundText(round)}`),
  ];
}
