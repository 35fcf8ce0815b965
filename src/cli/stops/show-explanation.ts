/** `sandflow stops explain`. */

import { orNullWhenMissing } from '../../client/missing.js';
import type { Sandbox, StopOperation } from '../../contract/records/sandbox-records.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { StopReport } from '../../protocol/stop.js';
import { stopReport } from '../../workflow-client/stops/read-stops.js';
import type { CommandContext, JsonOption } from '../command.js';
import type { ServiceReads } from '../connect/ask-service.js';
import { withPlatform } from '../connect/with-platform.js';
import { plainError } from '../errors.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { explainStop } from './explain-stop.js';

/** @returns the exit code: that of an unknown id if there is no such sandbox */
export async function showExplanation(
  sandboxId: string,
  options: JsonOption,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const known = await withPlatform(context, {}, async ({ reads, temporal }) => ({
    ...(await stopOf(reads, sandboxId, io.interrupted)),
    report: await reportOf(() => stopReport(temporal, sandboxId)),
  }));
  const explanation = explainStop({ sandboxId, ...known, nowMs: Date.now() });
  const isMissing = explanation.state === 'no_sandbox';
  const exitCode = isMissing ? exitCodes.usage : exitCodes.done;
  if (options.json) {
    const { stop, report } = known;
    const error = isMissing ? plainError('sandbox_not_found', explanation.summary) : null;
    printJson(io.stdout, { ...explanation, stop, requests: report?.requests ?? null, error });
    return exitCode;
  }
  const { summary, facts, next } = explanation;
  io.stdout.write(`${oneLine(summary)}\n`);
  for (const fact of facts) io.stdout.write(`  ${oneLine(fact)}\n`);
  if (next) io.stdout.write(`Next: ${oneLine(next)}\n`);
  return exitCode;
}

/**
 * Reads the sandbox and its last stop; null if missing. The stop is read by id, because only that answer has all its
 * times.
 */
async function stopOf(
  reads: ServiceReads,
  sandboxId: string,
  signal: AbortSignal,
): Promise<{ readonly sandbox: Sandbox | null; readonly stop: StopOperation | null }> {
  const answer = await orNullWhenMissing(reads.getSandbox(sandboxId, { signal }));
  const last = answer?.sandbox.stop ?? null;
  const read = last && (await orNullWhenMissing(reads.getStop(sandboxId, last.id, { signal })));
  return { sandbox: answer?.sandbox ?? null, stop: read?.stop ?? last };
}

/** Undefined if no worker answers. */
async function reportOf(ask: () => Promise<StopReport | null>): Promise<StopReport | null | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SandflowError && error.code === 'no_worker') return undefined;
    throw error;
  }
}
