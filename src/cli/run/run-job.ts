/** `sandflow run`, after its command line was checked: starts or finds the job, watches it and saves its result. */

import { type JobAddress, startJob } from '../../workflow-client/jobs/job-client.js';
import { reportWakes } from '../../workflow-client/jobs/wake-report.js';
import type { CommandContext } from '../command.js';
import { checkWanted, namesAnything } from '../connect/check-wanted.js';
import { sayLocalFacts } from '../connect/local-facts.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes, isOfEnd } from '../exit-codes.js';
import { targetText } from '../notify/notify-target.js';
import { warnUndelivered } from '../notify/warn-undelivered.js';
import { finish } from '../output/finish.js';
import { linksOf, nextWhileRunning } from '../output/job-links.js';
import { emptyReport } from '../output/job-report.js';
import { printJson } from '../output/json.js';
import type { Reporter } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { parseGetPairs } from '../settings/file-pairs.js';
import { polledNotice } from '../webhooks/polled-waits.js';
import { attachTo, isAttachedTo } from './existing-job.js';
import { jobInputOf } from './job-input.js';
import { keptNotice } from './kept-sandbox.js';
import type { RunOptions } from './options.js';
import { readPutFiles, scriptNotice } from './put-files.js';
import type { RunCommand } from './read-run.js';
import { saveFiles } from './save-files.js';
import { showEnd } from './show-job.js';
import { watchJob } from './watch-job.js';

/**
 * @param read what the command line says, checked
 * @returns the exit code
 */
export async function runJob(read: RunCommand, options: RunOptions, context: CommandContext): Promise<number> {
  const { io } = context;
  const { jobId, parts, wanted, get, taken, labels, localFiles, watchDeadlineMs } = read;
  const opening = { needsWorker: true, checksService: true, quiet: options.quiet };
  return withPlatform(context, opening, async (platform, reporter) => {
    sayLocalFacts(await platform.readFacts(), reporter);
    const job = { deployment: platform.config.deployment, jobId };
    const asks = options.check && namesAnything(wanted);
    // A repeated id attaches to its job, even if the sandbox no longer exists.
    if ((taken || asks) && !(options.id !== undefined && (await isAttachedTo(platform, job, options)))) {
      if (taken) throw taken;
      const asking = { service: platform.service, signal: io.interrupted, notices: reporter };
      if (asks) await checkWanted(wanted, asking);
    }
    const put = await readPutFiles(localFiles, platform.keepInput);
    const input = jobInputOf(options, { ...parts, put });
    context.jobId = jobId;
    const { started } = await platform.patiently(() => {
      context.undone = undefined;
      const starting = { ...platform.starting, again: options.again, labels };
      return startJob(platform.temporal, input, starting).catch((error: unknown) => {
        if (io.interrupted.aborted)
          reporter.notice(`The job may have started. Check with: ${programName} jobs show ${jobId}`);
        throw error;
      });
    });
    const lost = started ? scriptNotice(localFiles) : undefined;
    if (started) sayStarted(platform, job, { ...options, prompts: input.prompts.length }, reporter);
    const attached = started ? undefined : await attachTo(platform.temporal, input, options, reporter);
    if (lost) reporter.notice(oneLine(lost));
    if (options.detach && attached?.hasEnded) return tellEnd(platform, job, options, { io, reporter });
    if (options.detach) return leaveRunning(platform, jobId, options, { io, reporter });
    const exitCode = await seeThrough(platform, job, { ...options, get }, { context, reporter, watchDeadlineMs });
    if (options.notify !== undefined && isOfEnd(exitCode)) {
      await warnUndelivered(platform, job, { target: options.notify, warn: (text) => reporter.notice(text) });
    }
    return exitCode;
  });
}

/** The end of `--detach`: prints the id of the job and the next commands. @returns the exit code */
export async function leaveRunning(
  { readFacts }: Pick<Platform, 'readFacts'>,
  jobId: string,
  { json }: Pick<RunOptions, 'json'>,
  { io, reporter }: { readonly io: Pick<CommandContext['io'], 'stdout'>; readonly reporter: Pick<Reporter, 'notice'> },
): Promise<number> {
  if (json) {
    const { isolation } = await readFacts();
    printJson(io.stdout, { ...emptyReport(jobId, null), isolation: isolation.known });
  } else io.stdout.write(`${jobId}\n`);
  reporter.notice(nextWhileRunning(jobId), 'detail');
  return exitCodes.done;
}

/**
 * `--detach` with the id of a job that has ended: prints the id as always, and the result where progress goes.
 * @returns the exit code of its outcome
 */
async function tellEnd(
  platform: Platform,
  job: JobAddress,
  { json }: Pick<RunOptions, 'json'>,
  { io, reporter }: { readonly io: CommandContext['io']; readonly reporter: Reporter },
): Promise<number> {
  const { isolation } = await platform.readFacts();
  const stdout = json ? io.stdout : { write: () => true };
  const shown = { io: { ...io, stdout }, reporter, json: json === true, isolation: isolation.known };
  const exitCode = await showEnd(platform, job, shown);
  if (!json) io.stdout.write(`${job.jobId}\n`);
  return exitCode;
}

/** Watches a job to its end and saves its result. `jobs watch` uses it too. */
export async function seeThrough(
  platform: Platform,
  job: JobAddress,
  options: { readonly get: readonly string[]; readonly json?: boolean; readonly quiet?: boolean },
  { context, reporter, watchDeadlineMs }: { context: CommandContext; reporter: Reporter; watchDeadlineMs?: number },
): Promise<number> {
  const { io } = context;
  const quiet = options.quiet === true;
  const watching = { reporter, interrupted: io.interrupted, deadlineMs: watchDeadlineMs, look: !quiet };
  // Ctrl-C must not have to wait for this answer.
  await platform.readFacts();
  const end = await watchJob(platform, job, watching);
  reporter.close();
  const files =
    end.kind === 'ended'
      ? await saveFiles(end.result.files, parseGetPairs(options.get), platform.results, io.cwd, job.jobId)
      : [];
  const polled =
    end.kind === 'ended' && !quiet ? await polledNotice(platform, reportWakes([end.result.wakes])) : undefined;
  return finish(end, io, {
    jobId: job.jobId,
    json: options.json === true,
    quiet,
    files,
    readWhole: platform.results.get,
    isolation: (await platform.readFacts()).isolation.known,
    polled,
    kept: quiet ? undefined : await keptNotice(platform, end),
    hasShown: (answer) => reporter.hasShown(answer),
    links: linksOf(job, platform.ui),
  });
}

function sayStarted(
  { ui }: Pick<Platform, 'ui'>,
  job: JobAddress,
  { notify, conversation, prompts }: Pick<RunOptions, 'notify' | 'conversation'> & { readonly prompts: number },
  reporter: Reporter,
): void {
  const { uiUrl } = linksOf(job, ui);
  // A pattern such as `*.md` may have named more files than a person thought.
  const several = prompts > 1 ? ` with ${prompts} prompts` : '';
  reporter.notice(`Job ${job.jobId} started${several}.${uiUrl === null ? '' : ` See ${uiUrl}`}`, 'detail');
  if (conversation !== undefined) {
    const taken =
      'It goes on in that conversation. Provider, model and effort are those of its options, or the defaults';
    reporter.notice(`${taken}; \`${programName} continue JOB\` takes those of the earlier job.`, 'detail');
  }
  if (notify !== undefined) {
    reporter.notice(`It notifies ${targetText(notify)} when it ends or is blocked.`, 'detail');
  }
}
