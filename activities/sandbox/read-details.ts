/** Retry class `safe`, reads of the content of sandboxes and snapshots. Null if the resource does not exist. */
import type { ListEventsQuery, SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { Snapshot, TreeEntry } from '../../src/contract/records/machine-records.js';
import type { Prompt, SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import { repeatable } from '../retry/attempt.js';

export type ProcessList = Pick<ResponseOf<'listProcesses'>, 'live' | 'sampledAt' | 'total' | 'processes'>;

/** Default number of events per call: their content goes into history. */
const defaultEvents = 100;

export function createSandboxReads(client: SandboxClient) {
  return {
    /** Machine time of this month. */
    async getSandboxUsage(sandboxId: string): Promise<ResponseOf<'getSandboxUsage'>['usage'] | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getSandboxUsage(sandboxId, { signal })));
        return answer?.usage ?? null;
      });
    },

    /** Reads a prompt by its own id. */
    async getPrompt(sandboxId: string, promptId: string): Promise<Prompt | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getPrompt(sandboxId, promptId, { signal })));
        return answer?.prompt ?? null;
      });
    },

    /** Events of the history, oldest first; by default at most 100. `after` continues from an id. */
    async listEvents(sandboxId: string, query: ListEventsQuery = {}): Promise<SandboxHistoryEvent[] | null> {
      return repeatable(async ({ call }) => {
        const bounded = { limit: defaultEvents, ...query };
        const answer = await orNullWhenMissing(call((signal) => client.listEvents(sandboxId, bounded, { signal })));
        return answer?.events ?? null;
      });
    },

    /** At most 500 processes: current ones, or the last known ones of a stopped sandbox. */
    async listProcesses(sandboxId: string): Promise<ProcessList | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.listProcesses(sandboxId, { signal })));
        if (!answer) return null;
        const { live, sampledAt, total, processes } = answer;
        return { live, sampledAt, total, processes };
      });
    },

    async listSandboxSnapshots(sandboxId: string): Promise<Snapshot[] | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.listSandboxSnapshots(sandboxId, { signal })));
        return answer?.snapshots ?? null;
      });
    },

    async getLatestSnapshot(sandboxId: string): Promise<Snapshot | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getLatestSnapshot(sandboxId, { signal })));
        return answer?.snapshot ?? null;
      });
    },

    /** Entries of a snapshot below `path`, or all. A large tree is too large for history: name a path. */
    async getSnapshotTree(snapshotId: string, path: string | null = null): Promise<TreeEntry[] | null> {
      const query = path === null ? {} : { path };
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getSnapshotTree(snapshotId, query, { signal })));
        return answer?.entries ?? null;
      });
    },
  };
}
