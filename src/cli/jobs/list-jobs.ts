/** `sandflow jobs list` and `sandflow fanout list`. */
import type { Client } from '@temporalio/client';
import { scheduleLabel } from '../../addresses/schedule-addresses.js';
import { endText } from '../../protocol/shortfall.js';
import type { ListedWorkflow, ListJobsOptions } from '../../workflow-client/list-executions.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { parseLabelPairs } from '../labels.js';
import { printJson } from '../output/json.js';
import { printList } from '../output/table.js';
import { ageText, parseCount, parseSince } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ListOptions } from './options.js';

/** Maximum number of printed reasons why rows are unreadable. */
const maxReasons = 3;

/** The largest `--limit`. */
export const mostListed = 10_000;

type ListCommand = (options: ListOptions, context: CommandContext) => Promise<void>;

export const printJobs = listCommand('jobs', {
  load: async () => (await import('../../workflow-client/list-executions.js')).listJobs,
  header: ['JOB', 'STATUS', 'STARTED', 'PROMPT'],
  idAndText: ({ jobId, prompt }) => [jobId, prompt],
});

export const printBatches = listCommand('batches', {
  load: async () => (await import('../../workflow-client/list-executions.js')).listFanouts,
  header: ['BATCH', 'STATUS', 'COMPLETED', 'STARTED', 'TITLE'],
  idAndText: ({ batchId, title }) => [batchId, title],
  counts: ({ counts }) => counts && `${counts.completed} of ${counts.items}`,
});

/** @throws UsageError */
export function filterOf(
  { since, label, schedule, outcome }: Pick<ListOptions, 'since' | 'label' | 'schedule' | 'outcome'>,
  nowMs: number,
): Pick<ListJobsOptions, 'since' | 'labels' | 'outcome'> {
  const ofSchedule = schedule !== undefined && { [scheduleLabel]: schedule };
  return { since: parseSince(since, nowMs), labels: { ...parseLabelPairs(label), ...ofSchedule }, outcome };
}

/** `sandflow jobs attributes`. */
export async function addAttributes(options: JsonOption, context: CommandContext): Promise<void> {
  const { registerSearchAttributes } = await import('../../workflow-client/search-attributes.js');
  const attributes = await withPlatform(context, {}, ({ temporal }) => registerSearchAttributes(temporal));
  if (options.json) return printJson(context.io.stdout, { attributes, error: null });
  for (const [name, what] of Object.entries(attributes)) context.io.stdout.write(`${name}  ${what}\n`);
}

/** A workflow that completed without a readable outcome has ended, nobody knows how. */
const statusText = (status: string) => (status === 'completed' ? 'ended' : status);

/** @param name name of the list in JSON and in messages */
function listCommand<Row extends ListedWorkflow>(
  name: string,
  table: {
    /** Loads the function that reads the list, after the options were checked. */
    readonly load: () => Promise<(temporal: Client, options: ListJobsOptions) => Promise<Row[]>>;
    readonly header: readonly string[];
    readonly idAndText: (row: Row) => readonly [string, string | null];
    /** Of a batch: how many of its items completed. */
    readonly counts?: (row: Row) => string | null;
  },
): ListCommand {
  return async ({ open, failed, limit: count, json, ...given }, context) => {
    const { io } = context;
    const limit = parseCount(count, '--limit', 1, mostListed);
    if (open && failed) throw new UsageError('--failed lists what has ended: it cannot be used with --open.');
    const nowMs = Date.now();
    const { batch, sandbox, blocked, after } = given;
    if (batch && (given.schedule ?? given.label[0]))
      throw new UsageError('--batch lists items, which have no labels: it cannot be used with --label or --schedule.');
    const filter = { open, failed, batch, sandbox, blocked, after, ...filterOf(given, nowMs) };
    const read = await table.load();
    const { hasFailed } = await import('../../workflow-client/list-executions.js');
    const found = await withPlatform(context, {}, ({ temporal, config: { deployment } }) =>
      read(temporal, { deployment, ...filter, limit: limit + 1 }),
    );
    const rows = found.slice(0, limit);
    const next = found.length > limit ? rows.at(-1)?.place : null;
    const cells = (row: Row) => {
      const [id, text] = table.idAndText(row);
      const unreadable = row.unreadable ? `(cannot be read: ${row.unreadable.code})` : '';
      return [
        id,
        row.outcome === null ? statusText(row.status) : endText({ ...row, outcome: row.outcome }),
        ...(table.counts ? [table.counts(row) ?? ''] : []),
        `${ageText(row.startedAt, nowMs)} ago`,
        text ?? unreadable,
      ];
    };
    const colours = (row: Row) =>
      [null, hasFailed(row) ? (row.outcome === 'completed' ? 'yellow' : 'red') : null] as const;
    const none = `No ${name} found.`;
    const list = { [name]: rows };
    printList(io, json, { list, none, more: { next }, header: table.header, cells, colours, last: 'cut' });
    if (json) return;
    if (next)
      io.stderr.write(`There are more ${name}: --limit ${Math.min(10 * limit, mostListed)}, or --after ${next}\n`);
    const reasons = [...new Set(rows.flatMap(({ unreadable }) => unreadable?.message ?? []))];
    for (const reason of reasons.slice(0, maxReasons)) io.stderr.write(`${reason}\n`);
    if (reasons.length > maxReasons) io.stderr.write(`… and ${reasons.length - maxReasons} more reasons\n`);
  };
}
