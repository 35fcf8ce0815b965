/** `sandflow jobs show`. */
import { describeJob, jobProgress } from '../../temporal/jobs/client.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import { finish } from '../output/finish.js';
import { emptyReport } from '../output/job-report.js';
import { blockedText, degradedText, phaseText } from '../output/job-text.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { waitingCalls, waitingText } from './waiting-calls.js';
import { watchJob } from './watch-job.js';

/** @returns the exit code of the outcome if the job has ended, otherwise 0 */
export function showJob(jobId: string, options: { readonly json?: boolean }, context: CommandContext): Promise<number> {
  const { io } = context;
  return withPlatform(context, { jobId, needsWorker: true }, async (platform, reporter) => {
    const job = { deployment: platform.config.deployment, jobId };
    const description = await describeJob(platform.temporal, job);
    if (description.status.name !== 'RUNNING') {
      const end = await watchJob(platform, job, { reporter, interrupted: io.interrupted, look: false });
      const files = end.kind === 'ended' ? end.result.files.map((file) => ({ ...file, localPath: null })) : [];
      return finish(end, io, {
        jobId,
        json: options.json === true,
        quiet: false,
        files,
        readWhole: platform.results.get,
      });
    }
    const progress = await jobProgress(platform.temporal, job);
    const { sandboxId, prompts, wakes, apiCalls } = progress;
    const waitingFor = waitingCalls(description, job, progress);
    if (options.json) {
      printJson(io.stdout, { ...emptyReport(jobId, null), sandboxId, prompts, wakes, apiCalls, progress, waitingFor });
      return exitCodes.done;
    }
    io.stdout.write(`${oneLine(`${phaseText(progress)}, since ${progress.since}; deadline ${progress.deadlineAt}`)}\n`);
    for (const [index, { status }] of prompts.entries()) {
      io.stdout.write(`  prompt ${index + 1}: ${oneLine(status)}\n`);
    }
    if (progress.degraded) io.stdout.write(`${degradedText(progress.degraded)}\n`);
    if (progress.blocked) io.stdout.write(`${blockedText(progress)}\n`);
    for (const call of waitingFor) io.stdout.write(`${waitingText(call)}\n`);
    return exitCodes.done;
  });
}
