/** `sandflow stop`, after its command line was checked. */

import { SandflowError } from '../../errors/sandflow-error.js';
import type { StopRequest } from '../../protocol/stop.js';
import { findStopRequest } from '../../workflow-client/stops/read-stops.js';
import type { CommandContext } from '../command.js';
import { type CheckSourceOptions, checkSource } from '../connect/check-source.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import type { Notices, Reporter } from '../output/reporter.js';
import { oneLine } from '../output/terminal-safe.js';
import { chooseSandboxes, confirmWork } from './choose-sandboxes.js';
import type { StopCommandOptions } from './options.js';
import { createReconnectingClient, type ReconnectingClient } from './reconnecting-client.js';
import type { StopCommand } from './stop-request.js';
import { endText, isGood, reattachHint, type StopEnd } from './stop-text.js';
import { watchStopToEnd } from './watch-to-end.js';
import { workInEach, workInNamed } from './work-in-sandboxes.js';

/**
 * Limits the load of the service. Temporal's limit of ten concurrent updates does not apply, because each request goes
 * to a different workflow.
 */
const requestsAtOnce = 8;

interface Ended {
  readonly sandboxId: string;
  readonly end: StopEnd;
}

/** @returns the exit code */
export async function stopSandboxes(
  { sandboxIds: given, request }: StopCommand,
  options: StopCommandOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const opening = { needsWorker: true, checksService: true, quiet: options.quiet };
  return withPlatform(context, opening, async (platform, reporter) => {
    const sandboxIds =
      given ?? (await chooseSandboxes(platform.reads, options, io, (found) => workInEach(platform, found)));
    if (given && !options.yes) await confirmWork(await workInNamed(platform, given), given.length, io);
    if (sandboxIds.length === 0) io.stderr.write('No matching sandbox can be stopped.\n');
    context.undone = undefined;
    const ends = await stopEach(sandboxIds, request, options, { context, platform, reporter });
    reporter.close();
    if (options.json) printJson(io.stdout, { requestId: request.requestId, stops: ends.map(reportOf), error: null });
    return exitCodeOf(ends, request, options.wait === true, context);
  });
}

function stopEach(
  sandboxIds: readonly string[],
  request: StopRequest,
  options: StopCommandOptions,
  { context, platform, reporter }: { context: CommandContext; platform: Platform; reporter: Reporter },
): Promise<Ended[]> {
  const { stdout, interrupted } = context.io;
  const link = createReconnectingClient(platform, { reporter, interrupted });
  const gate = createConcurrencyLimit(requestsAtOnce);
  const { taskQueue, deployment } = platform.config;
  const width = Math.max(...sandboxIds.map(({ length }) => length));
  // The more sandboxes, the less often each is polled: Temporal gets at most about 40 reads a second, and later 20.
  const lookEveryMs = [Math.max(250, sandboxIds.length * 25), Math.max(5_000, sandboxIds.length * 50)] as const;
  const visible = createVisibilityCheck({
    ...{ service: platform.service, link, reporter, interrupted },
    requestId: options.request,
    refuses: options.check,
  });
  return Promise.all(
    sandboxIds.map(async (sandboxId) => {
      const end = await watchStopToEnd(sandboxId, {
        ...{ request, taskQueue, deployment, gate, link, reporter, interrupted, lookEveryMs },
        wait: options.wait === true,
        // The list shows the sandboxes of --all.
        requireVisible: options.all ? undefined : visible,
      });
      if (!options.json && end.kind !== 'left') {
        stdout.write(`${sandboxId.padEnd(width)}  ${oneLine(endText(end))}\n`);
      }
      return { sandboxId, end };
    }),
  );
}

/** The same fields for every sandbox and every outcome. */
function reportOf({ sandboxId, end }: Ended): object {
  if (end.kind === 'seen') return { sandboxId, ...end.view };
  return { sandboxId, outcome: null, error: end.error };
}

function exitCodeOf(ends: readonly Ended[], request: StopRequest, waited: boolean, { io }: CommandContext): number {
  const left = ends.flatMap(({ sandboxId, end }) => (end.kind === 'left' ? [{ ...end, sandboxId }] : []));
  if (left.length > 0) {
    io.stderr.write(`${reattachHint(left, request)}\n`);
    return exitCodes.detached;
  }
  if (ends.every(({ end }) => isGood(end, waited))) return exitCodes.done;
  const codes = ends.map(({ end }) => (end.kind === 'failed' ? end.exitCode : exitCodes.otherOutcome));
  return codes.every((code) => code === codes[0]) ? (codes[0] ?? exitCodes.done) : exitCodes.otherOutcome;
}

interface VisibilityCheckOptions {
  readonly service: CheckSourceOptions['service'];
  readonly link: ReconnectingClient;
  readonly reporter: Notices;
  readonly interrupted: AbortSignal;
  /** The id that the user gave the request; undefined for a new request. */
  readonly requestId: string | undefined;
  /** False: says that the sandbox is not shown, and lets the stop be requested. */
  readonly refuses: boolean;
  /** Pauses between reads of what is not found, in ms. Default: those of `checkSource`. */
  readonly pausesMs?: readonly number[];
}

/**
 * Asks the service whether a sandbox exists before its stop is requested. The workflow of a stop cannot tell a wrong id
 * from a sandbox that is too new to be shown, so it asks for a minute and a half before it believes a 404.
 * @returns a check that throws a SandflowError `sandbox_not_found`
 */
export function createVisibilityCheck(options: VisibilityCheckOptions): (sandboxId: string) => Promise<void> {
  const { service, link, reporter, interrupted, requestId, refuses, pausesMs } = options;
  return async (sandboxId) => {
    // A repeated request resumes its wait, whatever became of the sandbox.
    const isRepeated =
      requestId !== undefined && (await link.call((temporal) => findStopRequest(temporal, sandboxId, requestId)));
    if (isRepeated) return;
    const asking = { service, signal: interrupted, notices: reporter, pausesMs: refuses ? pausesMs : [] };
    try {
      await checkSource({ kind: 'sandbox', sandboxId, use: 'stop' }, asking);
    } catch (error) {
      if (refuses || !(error instanceof SandflowError)) throw error;
      reporter.notice(
        `${sandboxId}: the service does not show this sandbox. It may be new: its stop waits up to 90 s for it.`,
      );
    }
  };
}
