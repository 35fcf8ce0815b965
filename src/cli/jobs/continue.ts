/** `sandflow continue`, after its command line was checked: starts a job that follows up on an earlier one. */
import { startJob } from '../../temporal/jobs/client.js';
import { followUpOf } from '../../temporal/jobs/follow-up.js';
import { parseJobInput } from '../../temporal/jobs/input.js';
import { requireSame } from '../../temporal/jobs/rerun.js';
import type { CommandContext } from '../command.js';
import { checkSource } from '../connect/check-source.js';
import { sayIsolation } from '../connect/isolation.js';
import { namedSourceOf } from '../connect/named-source.js';
import { withPlatform } from '../connect/with-platform.js';
import { isAttachedTo } from '../run/existing-job.js';
import { parseGetPairs } from '../run/file-pairs.js';
import { leaveRunning, seeThrough } from '../run/run-job.js';
import type { ContinueJobOptions } from './options.js';
import type { ContinueCommand } from './read-rerun.js';

/** @returns the exit code */
export async function continueEarlier(
  jobId: string,
  { newJobId, prompt, watchDeadlineMs, taken }: ContinueCommand,
  options: ContinueJobOptions,
  context: CommandContext,
): Promise<number> {
  return withPlatform(context, { jobId, needsWorker: true, quiet: options.quiet }, async (platform, reporter) => {
    sayIsolation(platform.isolation, reporter);
    const { temporal } = platform;
    const { deployment, taskQueue, promptSummaries: promptInSummary } = platform.config;
    const newJob = { deployment, jobId: newJobId };
    const { provider, model, effort: reasoningEffort, end } = options;
    const collect = parseGetPairs(options.get).map(({ remote }) => remote);
    const given = { newJobId, prompt, provider, model, reasoningEffort, collect, end };
    const { input, labels } = await platform.patiently(() => followUpOf(temporal, { deployment, jobId }, given));
    const named = options.check ? namedSourceOf(input.source) : null;
    const isNew = async () => options.id === undefined || !(await isAttachedTo(platform, newJob, { again: false }));
    if ((taken || named) && (await isNew())) {
      if (taken) throw taken;
      const asking = { service: platform.service, signal: context.io.interrupted, notices: reporter };
      if (named) await checkSource(named, asking);
    }
    context.io.interrupted.throwIfAborted();
    context.undone = undefined;
    const starting = { taskQueue, promptInSummary, labels, results: platform.sharedResults };
    const { started } = await startJob(temporal, input, starting);
    if (!started) await requireSame(temporal, parseJobInput(input));
    context.jobId = newJobId;
    reporter.notice(
      started ? `Job ${newJobId} started; it continues ${jobId}.` : `Job ${newJobId} already exists; watching it.`,
      'detail',
    );
    if (options.detach) return leaveRunning(platform, newJobId, options, { io: context.io, reporter });
    return seeThrough(platform, newJob, options, { context, reporter, watchDeadlineMs });
  });
}
