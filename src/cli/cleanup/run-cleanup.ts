/** `sandflow cleanup run`, `plan` and `report`. */

import { setTimeout as sleep } from 'node:timers/promises';
import { cleanupPrefix } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { aborted } from '../../os/aborted.js';
import { anySignal } from '../../os/any-signal.js';
import type { CleanupInput, CleanupProgress, CleanupReport, CleanupSummary } from '../../protocol/cleanup.js';
import type { ResultStore } from '../../result-store/index.js';
import { readStoredJson } from '../../result-store/stored-json.js';
import { type CleanupPolicy, withOpenWindows } from '../../retention/index.js';
import type { CleanupHandle, CleanupListed } from '../../workflow-client/cleanups/cleanup-client.js';
import type { CommandContext } from '../command.js';
import { movedText } from '../connect/local-clock.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodeOfEnd, exitCodes } from '../exit-codes.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import type { Reporter } from '../output/reporter.js';
import { createScreenLines, textLine } from '../output/screen-lines.js';
import { tableWidth } from '../output/table.js';
import { createPaint } from '../output/terminal.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';
import type { RunCleanupOptions } from './options.js';
import { readPolicyFile } from './policy-file.js';
import { reportText, summaryLines, wentWell } from './report-text.js';

type ReportOptions = Pick<RunCleanupOptions, 'json' | 'all'>;

/** @returns the exit code */
export async function runCleanup(
  file: string,
  mode: CleanupInput['mode'],
  options: RunCleanupOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  context.undone = 'started no cleanup';
  const written = await readPolicyFile(file, io);
  const policy = options.ignoreWindow ? withOpenWindows(written) : written;
  return runPolicy({ policy, mode }, options, context);
}

/** What `runPolicy` runs. */
export interface PolicyRun {
  readonly policy: CleanupPolicy;
  readonly mode: CleanupInput['mode'];
  /** `failing stops`: shows only sandboxes whose stop fails, and each of them. Default: all sandboxes. */
  readonly only?: 'failing stops';
}

/** Runs a policy and shows the result. @returns the exit code */
export async function runPolicy(
  { policy, mode, only }: PolicyRun,
  options: Pick<RunCleanupOptions, 'all' | 'detach' | 'json'>,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  return withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
    const { temporal, config, results, patiently } = platform;
    const moved = movedText((await platform.readFacts()).clock);
    if (moved !== null) reporter.notice(`${moved} Cleanups compute ages by the clock of the worker's machine.`);
    const { startCleanup } = await import('../../workflow-client/cleanups/cleanup-client.js');
    const { deployment, taskQueue } = config;
    const handle = await patiently(() => {
      context.undone = undefined;
      return startCleanup(temporal, { deployment, taskQueue, policy, mode });
    });
    const id = handle.workflowId.slice(cleanupPrefix(deployment).length);
    const comeBack = `See the report with: ${programName} cleanup report ${id}`;
    if (options.detach) {
      if (options.json) printJson(io.stdout, { id, summary: null, plan: null, error: null });
      else io.stdout.write(`${id}\n`);
      reporter.notice(comeBack, 'detail');
      return exitCodes.done;
    }
    const summary = await watchCleanup(handle, io, reporter);
    if (summary === undefined) {
      io.stderr.write(`Detached; cleanup ${id} continues. ${comeBack}\n`);
      return exitCodeOfEnd({ kind: 'detached' });
    }
    return show({ id, summary, results, only }, options, context);
  });
}

/** `sandflow cleanup report`. @returns the exit code */
export async function showReport(
  asked: string | undefined,
  options: ReportOptions,
  context: CommandContext,
): Promise<number> {
  return withPlatform(context, {}, async ({ temporal, config, results }) => {
    const { cleanupHandle, listCleanups } = await import('../../workflow-client/cleanups/cleanup-client.js');
    const { describeReadable } = await import('../../temporal/readable-memos.js');
    const { deployment } = config;
    const isEnded = ({ status }: CleanupListed) => status === 'completed';
    const id = asked ?? (await listCleanups(temporal, { deployment })).find(isEnded)?.id;
    if (id === undefined)
      throw new UsageError(`No cleanup has ended yet. Run one with: ${programName} cleanup run POLICY`);
    const handle = cleanupHandle(temporal, deployment, id);
    const { status } = await describeReadable(temporal, handle.workflowId).catch((cause: unknown) => {
      throw new UsageError(`Temporal has no cleanup "${id}"; it may have been removed after the retention period.`, {
        cause,
      });
    });
    if (status.name === 'RUNNING')
      throw new UsageError(`Cleanup "${id}" is still running. Try again when it has ended.`);
    if (status.name !== 'COMPLETED') {
      const how = status.name.toLowerCase().replaceAll('_', ' ');
      throw new UsageError(`Cleanup "${id}" was ended outside sandflow (${how}) and has no report.`);
    }
    const summary = await handle.result();
    return show({ id, summary, results }, options, context);
  });
}

interface Ended {
  readonly id: string;
  readonly summary: CleanupSummary;
  readonly results: ResultStore;
  readonly only?: PolicyRun['only'];
}

async function show(
  { id, summary, results, only }: Ended,
  { json, all = only !== undefined }: ReportOptions,
  { io }: CommandContext,
): Promise<number> {
  const whole = await readReport(results, summary);
  const report = only === undefined ? whole : whole && onlyFailing(whole);
  if (json) printJson(io.stdout, { id, summary, plan: report?.plan ?? null, error: summary.error });
  else if (report) io.stdout.write(reportText(report, { all, width: tableWidth(io.stdout) }));
  const paint = createPaint(io.stderr);
  const isWell = wentWell(summary);
  for (const [index, line] of summaryLines(summary, all ? report?.plan : null).entries()) {
    io.stderr.write(`${index === 0 ? paint(isWell ? 'green' : 'red', line) : line}\n`);
  }
  if (!report)
    io.stderr.write(
      'This result store does not have the report. Set SANDFLOW_RESULTS to the directory that the worker uses.\n',
    );
  return exitCodeOfEnd({ kind: 'ended', isDone: isWell });
}

function onlyFailing(report: CleanupReport): CleanupReport {
  const { plan } = report;
  return { ...report, plan: plan && { ...plan, entries: plan.entries.filter(({ failingStop }) => failingStop) } };
}

/** Undefined if there is no report, or if this command cannot read the worker's result store. */
async function readReport(results: ResultStore, { reportRef }: CleanupSummary): Promise<CleanupReport | undefined> {
  if (reportRef === null) return undefined;
  return readStoredJson<CleanupReport>(results, reportRef).catch((error: unknown) => {
    if (error instanceof SandflowError && error.code === 'result_of_other_version') throw error;
    return undefined;
  });
}

const lookEveryMs = 1_000;

/** Returns undefined after Ctrl-C; the cleanup continues. */
async function watchCleanup(
  handle: CleanupHandle,
  { stderr, interrupted }: Pick<CliIo, 'stderr' | 'interrupted'>,
  reporter: Reporter,
): Promise<CleanupSummary | undefined> {
  const { cleanupProgress } = await import('../../workflow-client/cleanups/cleanup-client.js');
  const status = createScreenLines(stderr, { enabled: true });
  const over = new AbortController();
  const stopped = anySignal([over.signal, interrupted]);
  let blockedSince = '';
  const look = async () => {
    while (!stopped.aborted) {
      await sleep(lookEveryMs, undefined, { signal: stopped });
      // If no worker answers now, the result still arrives later.
      const progress = await cleanupProgress(handle).catch(() => undefined);
      if (!progress || stopped.aborted) continue;
      status.show((width) => [textLine(progressText(progress), width)]);
      const { blocked } = progress;
      if (blocked && blocked.since !== blockedSince) {
        status.close();
        reporter.notice(`The service refuses requests for now (${blocked.message}); the cleanup waits and retries.`);
      }
      blockedSince = blocked?.since ?? '';
    }
  };
  const looking = look().catch(() => undefined);
  try {
    return await Promise.race([handle.result(), aborted(interrupted).then(() => undefined)]);
  } finally {
    over.abort();
    await looking;
    status.close();
  }
}

function progressText({ phase, due, counts }: CleanupProgress): string {
  if (phase === 'planning') return 'planning: reading the sandboxes and their owners';
  const done = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return `${phase}: ${done} of ${due ?? '?'} done, ${counts.deleted} deleted, ${counts.stopped} stopped`;
}
