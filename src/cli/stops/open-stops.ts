/** Joins the service's stops with the requests that workflows track. Pure. */
import type { StopReport, StopRequestView } from '../../../workflows/stop/types.js';
import type { Sandbox, StopOperation } from '../../contract/records.js';
import { isOpenStop } from './choose-sandboxes.js';

export interface OpenStop {
  readonly sandboxId: string;
  readonly name: string | null;
  readonly state: string;
  /** `asking`: requested, but not accepted by the service. */
  readonly status: string;
  /** When it was requested; null if unknown. */
  readonly since: string | null;
  readonly error: string | null;
  /** As the service has it. */
  readonly stop: StopOperation | null;
  /** How many requests wait for its end; null if Temporal did not answer. */
  readonly waiting: number | null;
  /** The requests that have not ended. */
  readonly requests: readonly StopRequestView[];
}

export interface StopFilter {
  readonly failing: boolean;
  /** 0: of any age. A stop of unknown age always matches. */
  readonly olderThanMs: number;
}

/** Reports of the sandboxes' workflows; null for one that did not answer. */
export type StopReports = ReadonlyMap<string, StopReport | null>;

/** The stops that have not ended, oldest first. */
export function openStops(sandboxes: readonly Sandbox[], reports: StopReports): OpenStop[] {
  return sandboxes
    .flatMap((sandbox) => openStopOf(sandbox, reports.get(sandbox.id)) ?? [])
    .sort((a, b) => timeOf(a) - timeOf(b) || a.sandboxId.localeCompare(b.sandboxId));
}

export function fits({ failing, olderThanMs }: StopFilter, nowMs: number): (stop: OpenStop) => boolean {
  return ({ status, since }) =>
    (!failing || status === 'failing') && (since === null || nowMs - Date.parse(since) >= olderThanMs);
}

/** Stops of unknown age come first: they may be the oldest. */
function timeOf({ since }: OpenStop): number {
  return since === null ? 0 : Date.parse(since);
}

function openStopOf(sandbox: Sandbox, report: StopReport | null | undefined): OpenStop | undefined {
  const stop = isOpenStop(sandbox.stop) ? (sandbox.stop ?? null) : null;
  const requests = (report?.requests ?? []).filter(({ outcome }) => outcome === null);
  const [oldest] = requests;
  if (stop === null && oldest === undefined) return undefined;
  return {
    sandboxId: sandbox.id,
    name: sandbox.name ?? null,
    state: sandbox.state,
    status: stop?.status ?? 'asking',
    since: stop?.requestedAt ?? oldest?.arrivedAt ?? null,
    error: stop?.error ?? oldest?.blocked?.message ?? oldest?.failed?.lastError ?? null,
    stop,
    waiting: report === null ? null : requests.length,
    requests,
  };
}
