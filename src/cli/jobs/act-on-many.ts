/** `sandflow jobs cancel`, `rerun` and `resolve` without an id: for the jobs that their filters choose. */

import type { JobError } from '../../protocol/job/job-result.js';
import type { Resolution } from '../../protocol/messages.js';
import type { JobSummary } from '../../workflow-client/list-executions.js';
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
import type { CancelJobOptions, ListOptions, RerunJobOptions, ResolveJobOptions } from './options.js';

const requestsAtOnce = 8;
/** How long a job may take to say what it waits for, in ms: among thousands, some may never answer. */
const readTimeoutMs = 5_000;
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
  { since, label, schedule, dryRun, yes, ...own }: Chosen & Partial<Pick<ListOptions, 'open' | 'failed' | 'blocked'>>,
  ofOne: Readonly<Record<string, unknown>>,
): string | undefined {
  const isChoice =
    (own.open ?? own.failed ?? own.outcome ?? own.blocked ?? since ?? schedule ?? label[0]) !== undefined;
  if (jobId === undefined ? !isChoice : isChoice || dryRun || yes) {
    const filters = '--since, --label, --schedule, --outcome, and --failed or --open and --blocked';
    throw new UsageError(`Name one job, or choose jobs with ${filters}.`);
  }
  const isGiven = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== undefined);
  const extra = jobId === undefined && Object.keys(ofOne).find((flag) => isGiven(ofOne[flag]));
  if (extra) throw new UsageError(`${extra} needs one job that is named.`);
  return jobId;
}

/** What became of a job, or is due. */
interface Acted {
  readonly result:
    | ('cancelling' | 'already_cancelling' | 'already_ended' | 'started' | 'already_started' | 'resolved')
    | ('due' | 'changed' | 'skipped_rerun' | 'unread' | 'failed' | 'untouched');
  /** The job that a rerun has started. */
  readonly newJobId?: string | null;
  readonly error?: JobError | null;
  /** Does what is due. */
  readonly act?: () => Promise<Acted>;
  /** What a person decides about, if not the state of the job and its prompt. */
  readonly text?: string;
}

const inWords = (result: string) => result.replaceAll('_', ' ');

/** Reads a job. Returns null if it is not meant. */
type Plan = (platform: Platform, job: JobSummary) => Promise<Acted | null>;

/** Leaves a job that is being cancelled as it is. @returns the exit code */
export const cancelMany = (options: CancelJobOptions, context: CommandContext) =>
  actOnMany('Cancel', options, context, async ({ temporal, config: { deployment } }, { jobId }) => {
    const { cancelJob } = await import('../../workflow-client/jobs/job-client.js');
    const results = { first: 'cancelling', again: 'already_cancelling', ended: 'already_ended' } as const;
    const cancel = () => cancelJob(temporal, { deployment, jobId }, { once: true });
    return { result: 'due', act: async () => ({ result: results[await askToCancel(cancel, 'job_ended')] }) };
  });

/** Starts none twice. @returns the exit code */
export const rerunMany = (options: RerunJobOptions, context: CommandContext) =>
  actOnMany('Rerun', options, context, async (platform, { jobId, status, runId, rerunOf }) => {
    const { rerunIdOf, rerunJob } = await import('../../workflow-client/jobs/rerun-job.js');
    const { isAttachedTo } = await import('../run/existing-job.js');
    const { deployment } = platform.config;
    if (status === 'running') return null;
    // A repeated command must not run again what the first one started, unless that has failed.
    if (rerunOf !== null && !options.failed) return { result: 'skipped_rerun' };
    const origin = rerunOf ?? jobId;
    const newJobId = rerunIdOf({ deployment, jobId: origin }, runId);
    const again = { result: 'already_started', newJobId } as const;
    if (await isAttachedTo(platform, { deployment, jobId: newJobId }, { again: false })) return again;
    const starting = { ...platform.starting, newJobId, rerunOf: origin };
    const act = async (): Promise<Acted> => {
      const { started } = await rerunJob(platform.temporal, { deployment, jobId }, starting);
      return started ? { result: 'started', newJobId } : again;
    };
    return { result: 'due', act };
  });

/** Resolves the jobs that wait for a decision. @returns the exit code */
export const resolveMany = (decision: Resolution, options: ResolveJobOptions, context: CommandContext) =>
  actOnMany('Resolve', options, context, async ({ temporal, config: { deployment } }, { jobId }) => {
    const { jobProgress, resolveJob } = await import('../../workflow-client/jobs/job-client.js');
    const { abortable } = await import('../../temporal/calls.js');
    const job = { deployment, jobId };
    const read = () => abortable(temporal, AbortSignal.timeout(readTimeoutMs), () => jobProgress(temporal, job));
    const { blocked } = await read();
    if (blocked?.reason !== 'outcome_unknown') return null;
    const { step, since, message } = blocked;
    const act = async (): Promise<Acted> => {
      const { blocked: now } = await read();
      // The job takes a decision for any call. This one is for the call that was shown.
      if (now?.step !== step || now.since !== since) return { result: 'changed' };
      // The same decision about the same call, however often the command is repeated.
      await resolveJob(temporal, job, decision, { updateId: `${decision.action} ${step} ${since}` });
      return { result: 'resolved' };
    };
    return { result: 'due', act, text: `${step}: ${message}` };
  });

/** Shows what it would do, asks, and says what it did. */
async function actOnMany(
  verb: 'Cancel' | 'Rerun' | 'Resolve',
  options: Chosen & Partial<Pick<ListOptions, 'failed' | 'blocked'>>,
  context: CommandContext,
  plan: Plan,
): Promise<number> {
  const { io } = context;
  const { stdout, stderr, interrupted } = io;
  const { dryRun, yes, json, failed, blocked } = options;
  const filter = { open: verb !== 'Rerun', failed, blocked, ...filterOf(options, Date.now()) };
  context.undone = 'changed no job';
  return withPlatform(context, { needsWorker: verb !== 'Cancel' }, async (platform, reporter) => {
    const { listJobs } = await import('../../workflow-client/list-executions.js');
    const { describeJob } = await import('../../workflow-client/jobs/job-client.js');
    const { temporal } = platform;
    const { deployment } = platform.config;
    const found = await listJobs(temporal, { deployment, ...filter, limit: mostListed + 1 });
    if (found.length > mostListed) throw new UsageError(`More than ${mostListed} jobs match. Choose fewer.`);
    const gate = createConcurrencyLimit(requestsAtOnce);
    // One that fails does not stop the others. After Ctrl-C, what was sent is finished.
    const guarded = <T>(failed: 'unread' | 'failed', work: () => Promise<T>): Promise<T | Acted> =>
      gate(async () => {
        if (interrupted.aborted) return { result: 'untouched' };
        return work().catch((thrown: unknown): Acted => ({ result: failed, error: failureOf(thrown).error }));
      });

    reporter.busy?.(`reading ${plural(found.length, 'job')}`);
    const read = await Promise.all(
      found.map(async (job) => ({ job, planned: await guarded('unread', () => plan(platform, job)) })),
    );
    reporter.busy?.(null);
    interrupted.throwIfAborted();
    const chosen = read.flatMap(({ job, planned }) => (planned ? { ...job, ...planned } : []));
    const lines = chosen.flatMap(({ act, jobId, outcome, status, prompt, text }) =>
      act ? oneLine(`${jobId}  ${text ?? `${outcome ?? status}  ${prompt ?? ''}`}`) : [],
    );
    if (dryRun && !json) for (const line of lines) stdout.write(`${line}\n`);
    if (!dryRun && !yes && lines.length > 0) {
      for (const line of lines.slice(0, mostShown)) stderr.write(`${line}\n`);
      if (lines.length > mostShown) stderr.write(`… and ${lines.length - mostShown} more\n`);
      const these = lines.length === 1 ? 'this job' : `these ${lines.length} jobs`;
      const unasked = `This would ${verb.toLowerCase()} ${these}. Confirm with --yes.`;
      await confirmed(`${verb} ${these}?`, { unasked, refused: 'Nothing was changed.' }, io);
    }

    context.undone = undefined;
    const finish = async (one: JobSummary & Acted) => {
      const { jobId, runId, act } = one;
      // A job of this id may have been started since, and was not shown.
      const isShown = async () => (await describeJob(temporal, { deployment, jobId })).runId === runId;
      const change = async (): Promise<Acted> => (act && (await isShown()) ? act() : { result: 'changed' });
      const acted = act && !dryRun ? await guarded('failed', change) : one;
      const { result, newJobId = null, error = null } = acted;
      const text = `${jobId}  ${inWords(result)}${newJobId ? ` as ${newJobId}` : ''}${error ? `: ${error.message}` : ''}`;
      if (!json && result !== 'due' && result !== 'untouched') stdout.write(`${oneLine(text)}\n`);
      return { jobId, result, newJobId, error };
    };
    const jobs = await Promise.all(chosen.map(finish));
    if (json) printJson(stdout, { jobs, error: null });
    const count = (result: string) => jobs.filter((job) => job.result === result).length;
    const counts = [...new Set(jobs.map(({ result }) => result))].map((one) => `${count(one)} ${inWords(one)}`);
    stderr.write(`${plural(jobs.length, 'job')}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}.\n`);
    if (count('untouched') > 0) {
      stderr.write('Repeat the command for those that are untouched.\n');
      return exitCodes.detached;
    }
    return count('failed') + count('unread') + count('changed') > 0 ? exitCodes.otherOutcome : exitCodes.done;
  });
}
