/** Starts a new job whose input comes from an earlier one, and sees it through: `jobs rerun` and `continue`. */
import type { Client } from '@temporalio/client';
import { followUpOf } from '../../workflow-client/jobs/follow-up.js';
import { type JobAddress, startJob } from '../../workflow-client/jobs/job-client.js';
import { parseJobInput } from '../../workflow-client/jobs/job-input.js';
import { type EarlierJob, inputOfEarlier, requireSame } from '../../workflow-client/jobs/rerun-job.js';
import type { CommandContext } from '../command.js';
import { checkWanted, namesAnything, wantedOfJob } from '../connect/check-wanted.js';
import { sayLocalFacts } from '../connect/local-facts.js';
import { withPlatform } from '../connect/with-platform.js';
import { isAttachedTo } from '../run/existing-job.js';
import { leaveRunning, seeThrough } from '../run/run-job.js';
import { parseGetPairs } from '../settings/file-pairs.js';
import type { ContinueJobOptions, RerunJobOptions } from './options.js';
import type { ContinueCommand, RerunCommand } from './read-rerun.js';

interface FromEarlier {
  readonly options: RerunJobOptions | ContinueJobOptions;
  readonly context: CommandContext;
  /** Reads the input of the new job from the earlier one. */
  readonly read: (temporal: Client, earlier: JobAddress) => Promise<EarlierJob>;
  /** What is said once the job has started. */
  readonly startedText: string;
}

/** `sandflow jobs rerun`, after its command line was checked. @returns the exit code */
export function rerunEarlier(
  jobId: string,
  command: RerunCommand,
  options: RerunJobOptions,
  context: CommandContext,
): Promise<number> {
  const { newJobId } = command;
  return startFromEarlier(jobId, command, {
    ...{ options, context },
    startedText: `Job ${newJobId} started with the input of ${jobId}.`,
    async read(temporal, earlier) {
      const { input, labels } = await inputOfEarlier(temporal, earlier);
      return { input: { ...input, jobId: newJobId }, labels };
    },
  });
}

/** `sandflow continue`, after its command line was checked. @returns the exit code */
export function continueEarlier(
  jobId: string,
  command: ContinueCommand,
  options: ContinueJobOptions,
  context: CommandContext,
): Promise<number> {
  const { newJobId, prompt } = command;
  const { provider, model, effort: reasoningEffort, end } = options;
  const collect = parseGetPairs(options.get).map(({ remote }) => remote);
  const given = { newJobId, prompt, provider, model, reasoningEffort, collect, end };
  return startFromEarlier(jobId, command, {
    ...{ options, context },
    startedText: `Job ${newJobId} started; it continues ${jobId}.`,
    read: (temporal, earlier) => followUpOf(temporal, earlier, given),
  });
}

async function startFromEarlier(
  jobId: string,
  { newJobId, watchDeadlineMs, taken }: RerunCommand,
  { options, context, read, startedText }: FromEarlier,
): Promise<number> {
  return withPlatform(context, { needsWorker: true, quiet: options.quiet }, async (platform, reporter) => {
    sayLocalFacts(await platform.readFacts(), reporter);
    const { temporal } = platform;
    const { deployment } = platform.config;
    const newJob = { deployment, jobId: newJobId };
    const { input, labels } = await platform.patiently(() => read(temporal, { deployment, jobId }));
    const wanted = wantedOfJob(input);
    const asks = options.check && namesAnything(wanted);
    const isNew = async () => options.id === undefined || !(await isAttachedTo(platform, newJob, { again: false }));
    if ((taken || asks) && (await isNew())) {
      if (taken) throw taken;
      const asking = { service: platform.service, signal: context.io.interrupted, notices: reporter };
      if (asks) await checkWanted(wanted, asking);
    }
    context.io.interrupted.throwIfAborted();
    context.undone = undefined;
    const { started } = await startJob(temporal, input, { ...platform.starting, labels });
    if (!started) await requireSame(temporal, parseJobInput(input));
    context.jobId = newJobId;
    reporter.notice(started ? startedText : `Job ${newJobId} already exists; watching it.`, 'detail');
    if (options.detach) return leaveRunning(platform, newJobId, options, { io: context.io, reporter });
    return seeThrough(platform, newJob, options, { context, reporter, watchDeadlineMs });
  });
}
