/** `sandflow stops list`: the stops that the service shows, with the stop workflows that wait for them. */

import { ownerWorkflowId } from '../../addresses/addresses.js';
import type { Sandbox } from '../../contract/records/sandbox-records.js';
import { isOpenStop } from '../../contract/workflow-safe/states.js';
import type { StopReport } from '../../protocol/stop.js';
import type { CommandContext } from '../command.js';
import { withPlatform } from '../connect/with-platform.js';
import { printList } from '../output/table.js';
import { programName } from '../program-name.js';
import { ageText, anyLength, parseDurationMs } from '../units.js';
import type { ListStopsOptions } from './options.js';

export async function listStops(options: ListStopsOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  const filter: StopFilter = {
    failing: options.failing === true,
    olderThanMs: parseDurationMs(options.olderThan, '--older-than', anyLength) ?? 0,
  };
  const all = await withPlatform(context, {}, async ({ reads, temporal }, reporter) => {
    const sandboxes = await reads.listAllSandboxes({}, { signal: io.interrupted });
    const { openStopReports } = await import('../../workflow-client/stops/read-stops.js');
    const reports = await openStopReports(
      temporal,
      sandboxes.map(({ id }) => id),
    );
    if ([...reports.values()].includes(null)) {
      reporter.notice(
        `No worker answers, so it is unknown which requests wait. Start one with \`${programName} worker\`.`,
      );
    }
    return openStops(sandboxes, reports);
  });
  const nowMs = Date.now();
  printList(io, options.json, {
    list: { stops: all.filter(fits(filter, nowMs)) },
    none: all.length === 0 ? 'No open stops.' : 'No matching open stops.',
    header: ['SANDBOX', 'NAME', 'STATUS', 'FOR', 'WAITING', 'CREATED BY', 'LAST ERROR'],
    cells: (stop) => [
      stop.sandboxId,
      stop.name ?? '',
      stop.status,
      ageText(stop.since, nowMs) || '?',
      stop.waiting === null ? '?' : String(stop.waiting),
      stop.createdBy ?? '',
      stop.error ?? '',
    ],
  });
}

export type OpenStop = NonNullable<ReturnType<typeof openStopOf>>;

export interface StopFilter {
  readonly failing: boolean;
  /** Minimum age in ms; 0 for any age. A stop of unknown age always matches. */
  readonly olderThanMs: number;
}

/** The report of the stop workflow of each sandbox, by sandbox id; null if the workflow did not answer. */
export type StopReports = ReadonlyMap<string, StopReport | null>;

/** The stops that have not ended, oldest first. */
export function openStops(sandboxes: readonly Sandbox[], reports: StopReports): OpenStop[] {
  return sandboxes
    .flatMap((sandbox) => openStopOf(sandbox, reports.get(sandbox.id)) ?? [])
    .sort((a, b) => timeOf(a) - timeOf(b) || a.sandboxId.localeCompare(b.sandboxId));
}

export function fits({ failing, olderThanMs }: StopFilter, nowMs: number): (stop: OpenStop) => boolean {
  return ({ status, since }) =>
    (!failing || status === 'failing') &&
    // The clock of the service may be ahead of this one.
    (since === null || Math.max(0, nowMs - Date.parse(since)) >= olderThanMs);
}

/** Stops of unknown age come first: they may be the oldest. */
function timeOf({ since }: OpenStop): number {
  return since === null ? 0 : Date.parse(since);
}

function openStopOf(sandbox: Sandbox, report: StopReport | null | undefined) {
  const stop = isOpenStop(sandbox.stop) ? (sandbox.stop ?? null) : null;
  const requests = (report?.requests ?? []).filter(({ outcome }) => outcome === null);
  const [oldest] = requests;
  if (stop === null && oldest === undefined) return undefined;
  return {
    sandboxId: sandbox.id,
    name: sandbox.name ?? null,
    state: sandbox.state,
    /** `asking` if the service has not accepted the stop yet. */
    status: stop?.status ?? 'asking',
    /** When the stop was requested; null if unknown. */
    since: stop?.requestedAt ?? oldest?.arrivedAt ?? null,
    error: stop?.error ?? oldest?.blocked?.message ?? oldest?.failed?.lastError ?? null,
    /** As the service reports it; null if the service has not accepted it yet. */
    stop,
    /** How many requests wait for the end of the stop; null if its workflow did not answer. */
    waiting: report === null ? null : requests.length,
    /** Those that have not ended. */
    requests,
    /** Id of the workflow that created the sandbox, as its name says: it may stop it without a request. */
    createdBy: ownerWorkflowId(sandbox.name ?? '') ?? null,
  };
}
