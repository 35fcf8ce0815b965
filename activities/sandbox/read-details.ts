/** Retry class `safe`, reads of the content of sandboxes and snapshots. Null if the resource does not exist. */
import type { ListEventsQuery, SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import { oneCallIfThere } from '../retry/one-call.js';

export type ProcessList = Pick<ResponseOf<'listProcesses'>, 'live' | 'sampledAt' | 'total' | 'processes'>;

/** Default number of events per call: their content goes into history. */
const defaultEvents = 100;

export function createSandboxReads(client: SandboxClient) {
  return {
    /** Machine time of this month. */
    getSandboxUsage: (sandboxId: string) =>
      oneCallIfThere(async (o) => (await client.getSandboxUsage(sandboxId, o)).usage),

    /** Reads a prompt by its own id. */
    getPrompt: (sandboxId: string, promptId: string) =>
      oneCallIfThere(async (o) => (await client.getPrompt(sandboxId, promptId, o)).prompt),

    /** Events of the history, oldest first; by default at most 100. `after` continues from an id. */
    listEvents: (sandboxId: string, query: ListEventsQuery = {}) =>
      oneCallIfThere(async (o) => (await client.listEvents(sandboxId, { limit: defaultEvents, ...query }, o)).events),

    /** At most 500 processes: current ones, or the last known ones of a stopped sandbox. */
    listProcesses: (sandboxId: string): Promise<ProcessList | null> =>
      oneCallIfThere(async (o) => {
        const { live, sampledAt, total, processes } = await client.listProcesses(sandboxId, o);
        return { live, sampledAt, total, processes };
      }),

    listSandboxSnapshots: (sandboxId: string) =>
      oneCallIfThere(async (o) => (await client.listSandboxSnapshots(sandboxId, o)).snapshots),

    getLatestSnapshot: (sandboxId: string) =>
      oneCallIfThere(async (o) => (await client.getLatestSnapshot(sandboxId, o)).snapshot),

    /** Entries of a snapshot below `path`, or all. A large tree is too large for history: name a path. */
    getSnapshotTree: (snapshotId: string, path: string | null = null) =>
      oneCallIfThere(async (o) => (await client.getSnapshotTree(snapshotId, { path: path ?? undefined }, o)).entries),
  };
}
