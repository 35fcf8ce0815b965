/** `sandflow stops list`. */
import { openStopReports } from '../../temporal/stops/list.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { parseDurationMs } from '../duration.js';
import { printJson } from '../output/json.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { ageText } from '../sandboxes/times.js';
import { fits, type OpenStop, openStops, type StopFilter } from './open-stops.js';

export interface ListStopsOptions {
  readonly failing?: boolean;
  readonly olderThan?: string;
  readonly json?: boolean;
}

export async function listStops(options: ListStopsOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  const filter: StopFilter = {
    failing: options.failing === true,
    olderThanMs: options.olderThan === undefined ? 0 : parseDurationMs(options.olderThan, '--older-than'),
  };
  const all = await withPlatform(context, {}, async ({ reads, temporal }, reporter) => {
    const sandboxes = await reads.listAllSandboxes({}, { signal: io.interrupted });
    const reports = await openStopReports(
      temporal,
      sandboxes.map(({ id }) => id),
    );
    if ([...reports.values()].includes(null)) {
      reporter.notice('No worker answers, so it is unknown which requests wait. Start one with `sandflow worker`.');
    }
    return openStops(sandboxes, reports);
  });
  const stops = all.filter(fits(filter, Date.now()));
  if (options.json) return printJson(io.stdout, { stops, error: null });
  if (stops.length > 0) return void io.stdout.write(tableOf(stops, Date.now()));
  io.stderr.write(`${all.length === 0 ? 'No open stops' : `None of the ${all.length} open stops match`}.\n`);
}

function tableOf(stops: readonly OpenStop[], nowMs: number): string {
  const rows = stops.map(({ sandboxId, name, status, since, waiting, error }) => [
    sandboxId,
    oneLine(name ?? ''),
    status,
    ageText(since, nowMs) || '?',
    waiting === null ? '?' : waiting === 0 ? 'nobody' : `${waiting}`,
    oneLine(error ?? ''),
  ]);
  return formatTable(['SANDBOX', 'NAME', 'STATUS', 'FOR', 'WAITING', 'LAST ERROR'], rows);
}
