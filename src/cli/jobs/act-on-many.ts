/** `sandflow jobs cancel`, `rerun` and `resolve` without an id: for the jobs that their filters choose. */

import type { JobError } from '../../protocol/job/job-result.js';
import type { Resolution } from '../../protocol/messages.js';
import type { JobSummary, ListJobsOptions } from '../../workflow-client/list-executions.js';
import type { CommandContext } from '../command.js';
import { confirmed } from '../confirmed.js';
import { askToCancel } from '../connect/ask-to-cancel.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { failureOf } from '../errors.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { plural } from '../units.js';
import { UsageError } from '../usage-error.js';
import { filterOf, mostListed } from './list-jobs.js';
import type { CancelJobOptions, RerunJobOptions, ResolveJobOptions } from './options.js';

const requestsAtOnce = 8;
/** Jobs that are shown before the question. */
const mostShown = 20;

type Chosen = CancelJobOptions | RerunJobOptions | ResolveJobOptions;

/**
 * The id of the one job that a command acts on; undefined if filters choose the jobs.
 * @param ofOne the values of the options that need one job, by their flags
 * @throws UsageError for both, and for neither: without a filter, the command would act on every job
 */
export function oneJob(
  jobId: string | undefined,
  { since, label, schedule, dryRun, yes, ...own }: Chosen & { readonly open?: boolean; readonly failed?: boolean },
  ofOne: Readonly<Record<string, unknown>>,
): string | undefined {
  const isChoice = (own.open ?? own.failed ?? since ?? schedule ?? label[0]) !== undefined;
  if (jobId === undefined ? !isChoice : isChoice || dryRun || yes) {
    throw new UsageError('Name one job, or choose jobs with --since, --label, --schedule, and --failed or --open.');
  }
  const isGiven = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== undefined);
  const extra = jobId === undefined && Object.keys(ofOne).find((flag) => isGiven(ofOne[flag]));
  if (extra) throw new UsageError(`${extra} needs one job that is named.`);
  return jobId;
}

/** What became of a job. */
interface Acted {
  readonly result:
    | ('cancelling' | 'already_cancelling' | 'already_ended' | 'started' | 'already_started' | 'resolved')
    | ('due' | 'failed' | 'untouched');
  /** The job that a rerun has started. */
  readonly newJobId?: string | null;
  readonly error?: JobError | null;
}

interface Action {
  readonly verb: 'Cancel' | 'Rerun' | 'Resolve';
  readonly choice: Pick<ListJobsOptions, 'open' | 'failed'>;
  /** Reads a job. Returns how it is to be changed, or that it needs no change; null if it is not meant. */
  plan(platform: Platform, job: JobSummary): Promise<Acted | (() => Promise<Acted>) | null>;
}

/** Leaves a job that is being cancelled as it is. @returns the exit code */
export const cancelMany = (options: CancelJobOptions, context: CommandContext): Promise<number> =>
  actOnMany(options, context, {
    verb: 'Cancel',
    choice: { open: true },
    async plan({ temporal, config: { deployment } }, { jobId }) {
      const { cancelJob } = await import('../../workflow-client/jobs/job-client.js');
      const results = { first: 'cancelling', again: 'already_cancelling', ended: 'already_ended' } as const;
      const cancel = () => cancelJob(temporal, { deployment, jobId }, { once: true });
      return async () => ({ result: results[await askToCancel(cancel, 'job_ended')] });
    },
  });

/** Starts none twice. @returns the exit code */
export const rerunMany = (options: RerunJobOptions, context: CommandContext): Promise<number> =>
  actOnMany(options, context, {
    verb: 'Rerun',
    choice: { failed: options.failed },
    async plan(platform, { jobId, status, startedAt }) {
      const { rerunIdOf, rerunJob, rerunSuffix } = await import('../../workflow-client/jobs/rerun-job.js');
      const { isAttachedTo } = await import('../run/existing-job.js');
      const { deployment, taskQueue, promptSummaries: promptInSummary } = platform.config;
      // A repeated command must not run again what the first one started, unless that has failed.
      if (status === 'running' || (rerunSuffix.test(jobId) && !options.failed)) return null;
      const newJobId = rerunIdOf({ deployment, jobId }, startedAt);
      const again = { result: 'already_started', newJobId } as const;
      if (await isAttachedTo(platform, { deployment, jobId: newJobId }, { again: false })) return again;
      const starting = { newJobId, taskQueue, promptInSummary, results: platform.sharedResults };
      return async () => {
        const { started } = await rerunJob(platform.temporal, { deployment, jobId }, starting);
        return started ? { result: 'started', newJobId } : again;
      };
    },
  });

/** Resolves the jobs that wait for a decision. @returns the exit code */
export const resolveMany = (decision: Resolution, options: ResolveJobOptions, context: CommandContext) =>
  actOnMany(options, context, {
    verb: 'Resolve',
    choice: { open: true },
    async plan({ temporal, config: { deployment } }, { jobId }) {
      const { jobProgress, resolveJob } = await import('../../workflow-client/jobs/job-client.js');
      const { blocked } = await jobProgress(temporal, { deployment, jobId });
      if (blocked?.reason !== 'outcome_unknown') return null;
      // The same decision about the same call, however often the command is repeated.
      const updateId = `${decision.action} ${blocked.step} ${blocked.since}`;
      return async () => {
        await resolveJob(temporal, { deployment, jobId }, decision, { updateId });
        return { result: 'resolved' };
      };
    },
  });

const inWords = (result: string) => result.replaceAll('_', ' ');

/** Shows what it would do, asks, and says what it did. */
async function actOnMany(options: Chosen, context: CommandContext, { verb, choice, plan }: Action): Promise<number> {
  const { io } = context;
  const { stdout, stderr, interrupted } = io;
  const { dryRun, yes, json } = options;
  const filter = { ...choice, ...filterOf(options, Date.now()) };
  context.undone = 'changed no job';
  return withPlatform(context, { needsWorker: verb !== 'Cancel' }, async (platform, reporter) => {
    const { listJobs } = await import('../../workflow-client/list-executions.js');
    const { deployment } = platform.config;
    const found = await listJobs(platform.temporal, { deployment, ...filter, limit: mostListed + 1 });
    if (found.length > mostListed) throw new UsageError(`More than ${mostListed} jobs match. Choose fewer.`);
    const gate = createConcurrencyLimit(requestsAtOnce);
    // One that fails does not stop the others. After Ctrl-C, what was sent is finished.
    const guarded = <T>(work: () => Promise<T>): Promise<T | Acted> =>
      gate(async () => {
        if (interrupted.aborted) return { result: 'untouched' };
        return work().catch((thrown: unknown): Acted => ({ result: 'failed', error: failureOf(thrown).error }));
      });

    reporter.busy?.(`reading ${plural(found.length, 'job')}`);
    const read = await Promise.all(found.map(async (job) => ({ job, due: await guarded(() => plan(platform, job)) })));
    reporter.busy?.(null);
    interrupted.throwIfAborted();
    const due = read.filter(({ due }) => typeof due === 'function');
    const lines = due.map(({ job }) => oneLine(`${job.jobId}  ${job.outcome ?? job.status}  ${job.prompt ?? ''}`));
    if (dryRun && !json) for (const line of lines) stdout.write(`${line}\n`);
    if (!dryRun && !yes && due.length > 0) {
      for (const line of lines.slice(0, mostShown)) stderr.write(`${line}\n`);
      if (due.length > mostShown) stderr.write(`… and ${due.length - mostShown} more\n`);
      const these = due.length === 1 ? 'this job' : `these ${due.length} jobs`;
      const unasked = `This would ${verb.toLowerCase()} ${these}. Confirm with --yes.`;
      await confirmed(`${verb} ${these}?`, { unasked, refused: 'Nothing was changed.' }, io);
    }

    context.undone = undefined;
    const act = async ({ jobId }: JobSummary, due: Acted | (() => Promise<Acted>)) => {
      const acted = typeof due !== 'function' ? due : dryRun ? ({ result: 'due' } as const) : await guarded(due);
      const { result, newJobId = null, error = null }: Acted = acted;
      const text = `${jobId}  ${inWords(result)}${newJobId ? ` as ${newJobId}` : ''}${error ? `: ${error.message}` : ''}`;
      if (!json && result !== 'due' && result !== 'untouched') stdout.write(`${oneLine(text)}\n`);
      return { jobId, result, newJobId, error };
    };
    const jobs = await Promise.all(read.flatMap(({ job, due }) => (due === null ? [] : act(job, due))));
    if (json) printJson(stdout, { jobs, error: null });
    const count = (result: string) => jobs.filter((job) => job.result === result).length;
    const counts = [...new Set(jobs.map(({ result }) => result))].map((one) => `${count(one)} ${inWords(one)}`);
    stderr.write(`${plural(jobs.length, 'job')}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}.\n`);
    if (count('untouched') > 0) {
      stderr.write('Repeat the command for those that are untouched.\n');
      return exitCodes.detached;
    }
    return count('failed') > 0 ? exitCodes.otherOutcome : exitCodes.done;
  });
}
