import { shortfallOfJob } from '../../protocol/shortfall.js';
import { describeJob, type JobAddress, jobProgress } from '../../workflow-client/jobs/job-client.js';
import type { CommandContext } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import type { Reporter } from '../output/reporter.js';
import { watchJob } from '../run/watch-job.js';
import { transcriptOfJob } from '../transcript/job-transcript.js';
import { type Looked, printTranscript } from '../transcript/print-transcript.js';
import type { LogsOptions } from './options.js';

/** @returns the exit code: 0, or 130 if Ctrl-C ended it while the job was running */
export function showLogs(jobId: string, options: LogsOptions, context: CommandContext): Promise<number> {
  const { follow = false, json = false } = options;
  const { io } = context;
  return withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
    const job = { deployment: platform.config.deployment, jobId };
    const exitCode = await printTranscript({
      ...{ io, reporter, follow, json },
      transcript: transcriptOfJob(platform, job),
      look: () => lookAtJob(platform, job, { reporter, interrupted: io.interrupted }),
      reconnect: (notices) => platform.reconnect(notices),
    });
    if (exitCode === exitCodes.detached) reporter.notice(`Job ${jobId} is still running.`);
    return exitCode;
  });
}

async function lookAtJob(
  platform: Platform,
  job: JobAddress,
  watching: { readonly reporter: Reporter; readonly interrupted: AbortSignal },
): Promise<Looked> {
  const { temporal } = platform;
  const { status, closeTime } = await describeJob(temporal, job);
  if (status.name === 'RUNNING') return { kind: 'running', progress: await jobProgress(temporal, job) };
  const at = closeTime?.toISOString() ?? null;
  const end = await watchJob(platform, job, { ...watching, look: false });
  if (end.kind === 'ended') {
    const { outcome, error } = end.result;
    return { kind: 'ended', job: end.result, outcome, shortfall: shortfallOfJob(end.result), error, at };
  }
  const error = end.kind === 'broken' ? end.error : null;
  // A job without a result still answers a query, if there is a worker.
  const progress = await jobProgress(temporal, job).catch(() => null);
  return { kind: 'ended', job: progress, outcome: null, shortfall: null, error, at };
}
