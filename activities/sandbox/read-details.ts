/** Retry class `safe`, reads of the content of sandboxes and snapshots. Null if the resource does not exist. */
import type { ListEventsQuery, SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { Snapshot, TreeEntry } from '../../src/contract/records/machine-records.js';
import type { Prompt, SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import { oneCallIfThere } from '../retry/one-call.js';

export type ProcessList = Pick<ResponseOf<'listProcesses'>, 'live' | 'sampledAt' | 'total' | 'processes'>;

/** Default number of events per call: their content goes into history. */
const defaultEvents = 100;

export function createSandboxReads(client: SandboxClient) {
  return {
    /** Machine time of this month. */
    async getSandboxUsage(sandboxId: string): Promise<ResponseOf<'getSandboxUsage'>['usage'] | null> {
      return oneCallIfThere(async (o) => (await client.getSandboxUsage(sandboxId, o)).usage);
    },

    /** Reads a prompt by its own id. */
    async getPrompt(sandboxId: string, promptId: string): Promise<Prompt | null> {
      return oneCallIfThere(async (o) => (await client.getPrompt(sandboxId, promptId, o)).prompt);
    },

    /** Events of the history, oldest first; by default at most 100. `after` continues from an id. */
    async listEvents(sandboxId: string, query: ListEventsQuery = {}): Promise<SandboxHistoryEvent[] | null> {
      const bounded = { limit: defaultEvents, ...query };
      return oneCallIfThere(async (o) => (await client.listEvents(sandboxId, bounded, o)).events);
    },

    /** At most 500 processes: current ones, or the last known ones of a stopped sandbox. */
    async listProcesses(sandboxId: string): Promise<ProcessList | null> {
      return oneCallIfThere(async (o) => {
        const { live, sampledAt, total, processes } = await client.listProcesses(sandboxId, o);
        return { live, sampledAt, total, processes };
      });
    },

    async listSandboxSnapshots(sandboxId: string): Promise<Snapshot[] | null> {
      return oneCallIfThere(async (o) => (await client.listSandboxSnapshots(sandboxId, o)).snapshots);
    },

    async getLatestSnapshot(sandboxId: string): Promise<Snapshot | null> {
      return oneCallIfThere(async (o) => (await client.getLatestSnapshot(sandboxId, o)).snapshot);
    },

    /** Entries of a snapshot below `path`, or all. A large tree is too large for history: name a path. */
    async getSnapshotTree(snapshotId: string, path: string | null = null): Promise<TreeEntry[] | null> {
      const query = path === null ? {} : { path };
      return oneCallIfThere(async (o) => (await client.getSnapshotTree(snapshotId, query, o)).entries);
    },
  };
}
