/** `sandflow jobs rerun`, after its command line was checked: runs the input of an earlier job as a new job. */
import { inputOfEarlier, rerunJob } from '../../temporal/jobs/rerun.js';
import type { CommandContext } from '../command.js';
import { checkSource } from '../connect/check-source.js';
import { sayIsolation } from '../connect/isolation.js';
import { namedSourceOf } from '../connect/named-source.js';
import { withPlatform } from '../connect/with-platform.js';
import { isAttachedTo } from '../run/existing-job.js';
import { leaveRunning, seeThrough } from '../run/run-job.js';
import type { RerunJobOptions } from './options.js';
import type { RerunCommand } from './read-rerun.js';

/** @returns the exit code */
export async function rerunEarlier(
  jobId: string,
  { newJobId, watchDeadlineMs, taken }: RerunCommand,
  options: RerunJobOptions,
  context: CommandContext,
): Promise<number> {
  return withPlatform(context, { jobId, needsWorker: true, quiet: options.quiet }, async (platform, reporter) => {
    sayIsolation(platform.isolation, reporter);
    const { deployment, taskQueue, promptSummaries: promptInSummary } = platform.config;
    const newJob = { deployment, jobId: newJobId };
    const isNew = async () => options.id === undefined || !(await isAttachedTo(platform, newJob, { again: false }));
    if ((taken || options.check) && (await isNew())) {
      if (taken) throw taken;
      const { input } = await platform.patiently(() => inputOfEarlier(platform.temporal, { deployment, jobId }));
      const named = namedSourceOf(input.source);
      const asking = { service: platform.service, signal: context.io.interrupted, notices: reporter };
      if (named) await checkSource(named, asking);
    }
    context.io.interrupted.throwIfAborted();
    context.undone = undefined;
    const { started } = await rerunJob(
      platform.temporal,
      { deployment, jobId },
      { newJobId, taskQueue, promptInSummary, results: platform.sharedResults },
    );
    context.jobId = newJobId;
    reporter.notice(
      started ? `Job ${newJobId} started with the input of ${jobId}.` : `Job ${newJobId} already exists; watching it.`,
      'detail',
    );
    if (options.detach) return leaveRunning(platform, newJobId, options, { io: context.io, reporter });
    return seeThrough(platform, newJob, options, { context, reporter, watchDeadlineMs });
  });
}
