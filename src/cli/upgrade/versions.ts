/** `sandflow upgrade switch` and `drain`: the version that new jobs start with, and what keeps the workers of earlier ones. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { buildIdProblem } from '../../addresses/addresses.js';
import type { JobInput } from '../../protocol/job/job-input.js';
import { defaultCleanUpMs } from '../../protocol/limits.js';
import { workflowTypes } from '../../protocol/messages.js';
import { lenientClient } from '../../temporal/readable-memos.js';
import { heldBy, switchVersion, workerVersions } from '../../temporal/worker-versions.js';
import { readInput } from '../../workflow-client/first-input.js';
import type { CommandContext, JsonOption } from '../command.js';
import { createConcurrencyLimit } from '../connect/concurrency-limit.js';
import { withPlatform } from '../connect/with-platform.js';
import { printJson } from '../output/json.js';
import { formatTable, tableWidth } from '../output/table.js';
import { plural } from '../units.js';
import { UsageError } from '../usage-error.js';

export async function switchTo(version: string, context: CommandContext): Promise<void> {
  const problem = buildIdProblem(version);
  if (problem !== undefined) throw new UsageError(`The version ${problem}.`);
  await withPlatform(context, {}, ({ temporal, config: { taskQueue } }) => switchVersion(temporal, taskQueue, version));
  context.io.stdout.write(`New jobs start with ${version}. Those that run stay with their version.\n`);
}

/** Requests to Temporal at once. */
const atOnce = 20;
/** Most holders of a version that are named for a person. */
const mostNamed = 20;

/** How long those stay that have no deadline. */
const withoutDeadline: Readonly<Record<string, string>> = {
  [workflowTypes.createThenPrompt]: 'until its deadline, which cannot be read now',
  [workflowTypes.fanoutItem]: 'until its deadline, which begins with its fork',
  [workflowTypes.scheduledRun]: 'until what it has started has ended',
  [workflowTypes.deliverNotification]: 'a day after its start at most',
};

export async function showDrain({ json }: JsonOption, context: CommandContext): Promise<void> {
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
  for (const { version, holders } of versions) {
    if (holders === null || holders.length === 0) continue;
    io.stdout.write(`\nWith ${version} stay, the last one to end first:\n`);
    for (const { type, workflowId, untilAt } of holders.slice(0, mostNamed)) {
      io.stdout.write(`  ${type} ${workflowId}: ${untilAt ?? withoutDeadline[type] ?? 'until it continues as new'}\n`);
    }
    if (holders.length > mostNamed)
      io.stdout.write(`  and ${plural(holders.length - mostNamed, 'other')}; see --json\n`);
  }
}

/** The versions, with what stays with each. */
async function heldVersions(client: Client, taskQueue: string) {
  const versions = [];
  for (const { buildId, isCurrent } of await workerVersions(client, taskQueue)) {
    const limit = createConcurrencyLimit(atOnce);
    const reads: ReturnType<typeof holderOf>[] = [];
    let running = 0;
    for await (const execution of heldBy(lenientClient(client), taskQueue, buildId)) {
      running += 1;
      if (!isCurrent) reads.push(limit(() => holderOf(client, execution)));
    }
    const holders = (await Promise.all(reads)).sort((a, b) => lateness(b).localeCompare(lateness(a)));
    // Null if one of them has no such time.
    const untilAt = holders[0]?.untilAt ?? null;
    // The workers of the current version are needed in any case.
    versions.push({ version: buildId, isCurrent, running, untilAt, holders: isCurrent ? null : holders });
  }
  return versions.sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || a.version.localeCompare(b.version));
}

/** Sorts after every time. */
const lateness = ({ untilAt }: { readonly untilAt: string | null }) => untilAt ?? 'unknown';

/**
 * A running workflow that stays with a version.
 * @returns `untilAt`: ISO 8601 time of the end of its job at the latest, with clean-up; null if it has no such time, or
 *   nobody can say it
 */
async function holderOf(client: Client, execution: WorkflowExecutionInfo) {
  const { workflowId, type, startTime } = execution;
  const holder = { workflowId, type, untilAt: null };
  if (type !== workflowTypes.createThenPrompt) return holder;
  const input = await readInput<JobInput>(client, execution).catch(() => undefined);
  if (input === undefined) return holder;
  const { deadlineMs, timing: { cleanUpMs = defaultCleanUpMs } = {} } = input;
  return { ...holder, untilAt: new Date(startTime.getTime() + deadlineMs + cleanUpMs).toISOString() };
}
