/** `sandflow jobs report`: writes the report of a job, running or ended. */
import { stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { SandflowError } from '../../errors/sandflow-error.js';
import { makeFolderOf } from '../../os/inner-folder.js';
import { makeFolders } from '../../os/make-folders.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { JobError, JobResult, PromptResult } from '../../protocol/job/job-result.js';
import { type AgentStep, type JobReportData, renderJobReport } from '../../report/index.js';
import { chainStart } from '../../temporal/chain-start.js';
import { describeJob, jobProgress } from '../../workflow-client/jobs/job-client.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { makeDefaultFolder } from '../default-folder.js';
import { withWholeResults } from '../output/job-report.js';
import { phaseText } from '../output/job-text.js';
import { createPreviews } from '../output/previews.js';
import { readReportContext } from '../output/report-context.js';
import { usageText } from '../output/transcript-entry.js';
import { placeBelow } from '../place-below.js';
import { replaceFile } from '../replace-file.js';
import { waitingCalls, waitingText } from '../run/waiting-calls.js';
import { watchJob } from '../run/watch-job.js';
import { transcriptOfJob } from '../transcript/job-transcript.js';
import type { Transcript } from '../transcript/transcript.js';
import type { ReportJobOptions } from './options.js';

/** Writes the report, and prints its path on stdout. */
export async function reportJob(jobId: string, { out }: ReportJobOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  await withPlatform(context, { jobId, needsWorker: true }, async (platform, reporter) => {
    const job = { deployment: platform.config.deployment, jobId };
    const description = await describeJob(platform.temporal, job);
    const isRunning = description.status.name === 'RUNNING';
    const end = isRunning
      ? null
      : await watchJob(platform, job, { reporter, interrupted: io.interrupted, look: false });
    const progress = await jobProgress(platform.temporal, job).catch((error: unknown) => {
      // The result of an ended job contains nearly everything.
      if (end?.kind === 'ended' && error instanceof SandflowError) return null;
      throw error;
    });
    const result = end?.kind === 'ended' ? end.result : null;
    const broken = end?.kind === 'broken' ? end.error : null;
    const ownFolder = `job-${jobId}`;
    const path = resolve(io.cwd, out ?? join(ownFolder, 'report.html'));
    const files = result?.files ?? [];
    const read = (ref: string) => platform.results.get(ref);
    const previews = createPreviews();
    // With --out, the caller asked for one file.
    const copies = new Map<string, string>();
    if (out === undefined) await makeDefaultFolder(io.cwd, ownFolder);
    else await makeFolders(dirname(path));
    for (const { path: name, ref } of files) {
      const content = ref === null ? undefined : await read(ref).catch(() => undefined);
      if (ref === null || !content) continue;
      previews.add(ref, content);
      if (out !== undefined) continue;
      await saveCopy(name, content, dirname(path), copies).catch((error: unknown) => {
        reporter.notice(`${name} cannot be saved: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
    const waiting = isRunning && progress ? waitingCalls(description, job, progress).map(waitingText) : [];
    const data: JobReportData = {
      ...(await readReportContext(platform)),
      ...known(progress, result, broken),
      jobId,
      isRunning,
      prompts: await wholePrompts(result?.prompts ?? progress?.prompts ?? [], read),
      steps: await readSteps(transcriptOfJob(platform, job), { progress, result, signal: io.interrupted }),
      files,
      copies,
      previews: previews.all,
      startedAt: progress?.times?.startedAt ?? chainStart(description).toISOString(),
      endedAt: isRunning ? null : (description.closeTime ?? new Date()).toISOString(),
      doing: isRunning && progress ? [`${phaseText(progress)}.`, ...waiting] : [],
      generatedAt: new Date().toISOString(),
    };
    await replaceFile(path, (temporary) => writeFile(temporary, renderJobReport(data), { flag: 'wx' }));
    io.stdout.write(`${relative(io.cwd, path) || path}\n`);
  });
}

/** The result of a job takes precedence. Its progress adds the fields that the result lacks. */
function known(progress: JobProgress | null, result: JobResult | null, broken: JobError | null) {
  const newest = result ?? progress;
  return {
    outcome: result?.outcome ?? null,
    times: progress?.times ?? null,
    machineType: progress?.machineType ?? null,
    deadlineAt: progress?.deadlineAt ?? null,
    blocked: result ? null : (progress?.blocked ?? null),
    sandboxId: newest?.sandboxId ?? null,
    sandboxName: result?.sandboxName ?? null,
    degraded: newest?.degraded,
    setup: result?.setup ?? null,
    stop: result?.stop ?? null,
    deletion: result?.deletion ?? null,
    left: result?.left ?? [],
    wakes: newest?.wakes ?? [],
    wakeCount: result?.wakeCount ?? progress?.wakes.length ?? 0,
    apiCalls: newest?.apiCalls ?? 0,
    error: result ? result.error : broken,
  } satisfies Partial<JobReportData>;
}

/** What the agent said and ran. Empty if the history no longer exists. */
async function readSteps(
  transcript: Transcript,
  {
    progress,
    result,
    signal,
  }: { readonly progress: JobProgress | null; readonly result: JobResult | null; readonly signal: AbortSignal },
): Promise<AgentStep[]> {
  const job = result ?? progress;
  if (!job) return [];
  const entries = await transcript.readEnd(job, signal);
  if (!transcript.hasHistory()) return [];
  return entries.flatMap((entry): AgentStep[] => {
    if (entry.kind === 'usage') return [{ kind: 'usage', prompt: entry.prompt, at: entry.at, text: usageText(entry) }];
    return entry.kind === 'message' || entry.kind === 'command' || entry.kind === 'tool' ? [entry] : [];
  });
}

/** Restores prompts and answers that were cut, if the store has the whole text. */
async function wholePrompts(
  prompts: readonly PromptResult[],
  read: (ref: string) => Promise<Buffer>,
): Promise<PromptResult[]> {
  const answered = await withWholeResults(prompts, read);
  return Promise.all(
    answered.map(async (prompt) => {
      const whole = prompt.promptRef === null ? undefined : await read(prompt.promptRef).catch(() => undefined);
      return whole ? { ...prompt, prompt: whole.toString('utf8') } : prompt;
    }),
  );
}

/** Saves a copy of a collected file beside the report, and names it in `copies`. */
async function saveCopy(name: string, content: Buffer, folder: string, copies: Map<string, string>): Promise<void> {
  const place = placeBelow(join(folder, 'files'), name);
  const taken = await stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (taken) return;
  await makeFolderOf(place, folder);
  await replaceFile(place, (temporary) => writeFile(temporary, content, { flag: 'wx' }));
  copies.set(name, relative(folder, place).split(sep).map(encodeURIComponent).join('/'));
}
