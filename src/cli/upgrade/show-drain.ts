/** `sandflow upgrade drain`: what keeps the workers of earlier versions. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { JobInput } from '../../protocol/job/job-input.js';
import { defaultCleanUpMs } from '../../protocol/limits.js';
import { workflowTypes } from '../../protocol/messages.js';
import { chainStart } from '../../temporal/chain-start.js';
import { lenientClient, memoOf } from '../../temporal/readable-memos.js';
import { heldBy, workerVersions } from '../../temporal/worker-versions.js';
import { readInput } from '../../workflow-client/first-input.js';
import type { CommandContext } from '../command.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { formatTable, tableWidth } from '../output/table.js';
import { plural } from '../units.js';

/** A running workflow that stays with a version. */
interface Holder {
  readonly workflowId: string;
  readonly type: string;
  /** ISO 8601 time of the end of its job at the latest, clean-up included; null if it moves on, or its input is lost. */
  readonly untilAt: string | null;
}

/** One version, with what stays with it. */
interface Held {
  readonly version: string;
  readonly isCurrent: boolean;
  readonly running: number;
  /** The latest of its holders; null if none has an end of its own. */
  readonly untilAt: string | null;
  readonly holders: readonly Holder[];
}

/** Requests to Temporal at once. */
const atOnce = 20;
/** Most holders of a version that are named for a person. */
const mostNamed = 20;

export async function showDrain({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
  const { io } = context;
  const versions = await withPlatform(context, {}, ({ temporal, config }) => heldVersions(temporal, config.taskQueue));
  if (json) return printJson(io.stdout, { versions, error: null });
  if (versions.length === 0) {
    io.stderr.write('No worker of this task queue has told its version. Set SANDFLOW_BUILD_ID of workers.\n');
    return;
  }
  const rows = versions.map(({ version, isCurrent, running, untilAt }) => {
    return [version, isCurrent ? 'current' : running > 0 ? 'draining' : 'not needed', String(running), untilAt ?? ''];
  });
  io.stdout.write(formatTable(['VERSION', 'STATUS', 'RUNNING', 'UNTIL'], rows, { width: tableWidth(io.stdout) }));
  for (const { version, isCurrent, holders } of versions) {
    if (isCurrent || holders.length === 0) continue;
    io.stdout.write(`\nStays with ${version}, the last one to end first:\n`);
    for (const { type, workflowId, untilAt } of holders.slice(0, mostNamed)) {
      io.stdout.write(`  ${type} ${workflowId}: ${untilAt ?? 'until it continues as new'}\n`);
    }
    if (holders.length > mostNamed)
      io.stdout.write(`  and ${plural(holders.length - mostNamed, 'other')}; see --json\n`);
  }
}

async function heldVersions(client: Client, taskQueue: string): Promise<Held[]> {
  const versions: Held[] = [];
  for (const { buildId, isCurrent } of await workerVersions(client, taskQueue)) {
    const holders: Holder[] = [];
    const limit = createConcurrencyLimit(atOnce);
    const reads: Promise<number>[] = [];
    for await (const execution of heldBy(lenientClient(client), taskQueue, buildId)) {
      reads.push(limit(async () => holders.push(await holderOf(client, execution))));
    }
    await Promise.all(reads);
    holders.sort((a, b) => (b.untilAt ?? '').localeCompare(a.untilAt ?? ''));
    versions.push({
      version: buildId,
      isCurrent,
      running: holders.length,
      untilAt: holders[0]?.untilAt ?? null,
      holders,
    });
  }
  return versions.sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || a.version.localeCompare(b.version));
}

async function holderOf(client: Client, execution: WorkflowExecutionInfo): Promise<Holder> {
  const { workflowId, type, startTime, memo } = execution;
  const isItem = type === workflowTypes.fanoutItem;
  if (!isItem && type !== workflowTypes.createThenPrompt) return { workflowId, type, untilAt: null };
  const input = await readInput<JobInput & { readonly job?: JobInput }>(client, execution).catch(() => undefined);
  const job = isItem ? input?.job : input;
  if (job === undefined) return { workflowId, type, untilAt: null };
  const { deadlineMs, timing: { cleanUpMs = defaultCleanUpMs } = {} } = job;
  const start = chainStart({ startTime, memo: memoOf(memo).memo }).getTime();
  return { workflowId, type, untilAt: new Date(start + deadlineMs + cleanUpMs).toISOString() };
}
