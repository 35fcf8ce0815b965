/** Streams files of any size from sandboxes and snapshots to the result store, bypassing memory and history. */
import type { DownloadStream, SandboxClient } from '../../src/client/index.js';
import type { WriteFileBody } from '../../src/contract/requests/sandbox-requests.js';
import { timeToReceive } from '../../src/contract/workflow-safe/transfer-time.js';
import type { ResultStore, StoredObject } from '../../src/result-store/index.js';
import { repeatable } from '../retry/attempt.js';
import { oneCall } from '../retry/one-call.js';

export interface DownloadInput {
  readonly path: string;
  /** Key of the object in the result store: one per job and file. */
  readonly key: string;
}

/** Longest content in history, in characters. */
const longestInHistory = 64 * 1024;

export function createDownloads(client: SandboxClient, results: ResultStore) {
  const store = (key: string, open: (signal: AbortSignal) => Promise<DownloadStream>): Promise<StoredObject> =>
    repeatable(({ call }) =>
      call(async (signal) => {
        const { body } = await open(signal);
        try {
          return await results.putStream(key, body);
        } finally {
          body.destroy();
        }
      }),
    );

  return {
    /** Stores a file of a sandbox, or a folder as tar.gz. Safe to repeat. */
    downloadArtifact: (sandboxId: string, { path, key }: DownloadInput): Promise<StoredObject> =>
      store(key, (signal) => client.openArtifact(sandboxId, path, { signal })),

    /** Stores a file of a snapshot, or a folder as tar.gz. Safe to repeat. */
    downloadSnapshotFile: (snapshotId: string, { path, key }: DownloadInput): Promise<StoredObject> =>
      store(key, (signal) => client.openSnapshotFile(snapshotId, path, { signal })),

    /** Stores a whole snapshot as tar.gz. Safe to repeat. */
    downloadSnapshot: (snapshotId: string, key: string): Promise<StoredObject> =>
      store(key, (signal) => client.openSnapshot(snapshotId, { signal })),

    /**
     * Reads a file. Safe to repeat.
     * @returns its content or, if it is longer than 64 Ki characters, its reference in the result store; the other is null
     */
    readFile: (sandboxId: string, { path, key }: DownloadInput) =>
      repeatable(async ({ call, attempt }) => {
        const timeoutMs = timeToReceive(attempt);
        const { encoding, content } = await call((signal) => client.readFile(sandboxId, path, { signal, timeoutMs }));
        const bytes = Buffer.from(content, encoding);
        const size = bytes.byteLength;
        if (content.length <= longestInHistory) return { path, size, encoding, content, ref: null };
        return { path, size, encoding, content: null, ref: (await results.put(key, bytes)).ref };
      }),

    /**
     * Writes a small file; its content is in history. `putFile` reads larger content from the result store. Safe to
     * repeat.
     */
    writeFile: (sandboxId: string, body: WriteFileBody): Promise<null> =>
      oneCall(async (o) => {
        await client.writeFile(sandboxId, body, o);
        return null;
      }),
  };
}
