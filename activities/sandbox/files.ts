/** Moves files between the result store and sandboxes, so that their content stays out of history. */
import { createHash } from 'node:crypto';
import { ApiError, type SandboxClient, UnexpectedResponseError } from '../../src/client/index.js';
import { isFolderPath } from '../../src/contract/workflow-safe/folder-path.js';
import { timeToReceive, timeToSend } from '../../src/contract/workflow-safe/transfer-time.js';
import type { FilePut } from '../../src/protocol/job/job-input.js';
import type { CollectedFile } from '../../src/protocol/job/job-result.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { cut } from '../../src/texts/length.js';
import { repeatable, whileAttemptLives } from '../retry/attempt.js';
import { staysUnreadable, triesToRead } from '../retry/classify.js';
import { readStored } from '../store/texts.js';

export interface CollectFileInput {
  readonly sandboxId: string;
  readonly path: string;
  /** Key of the object in the result store: one per job and file. */
  readonly key: string;
}

type SingleFile = FilePut & { readonly content: Exclude<FilePut['content'], { tarGz: unknown }> };

export function createFileActivities(client: SandboxClient, results: ResultStore) {
  /** @returns undefined if the path is that of a file */
  async function storeFolder({ sandboxId, path, key }: CollectFileInput, signal: AbortSignal) {
    const { body, contentType } = await client.openArtifact(sandboxId, path.replace(/(?<=.)\/+$/, ''), { signal });
    try {
      if (contentType !== null && !/\bx?-?gzip\b/.test(contentType)) return undefined;
      // A cut-off attempt may stream for hours: it must not replace what the next one has stored.
      return await whileAttemptLives(() => results.putStream(key, body));
    } finally {
      body.destroy();
    }
  }

  return {
    /** Writes a file into a sandbox. Safe to repeat. Assumption: at most 32 MiB. */
    putFile: (sandboxId: string, file: SingleFile): Promise<null> =>
      repeatable(async ({ call }) => {
        const content =
          'base64' in file.content
            ? file.content.base64
            : (await readStored(results, file.content.ref)).toString('base64');
        const timeoutMs = timeToSend(content.length);
        await call((signal) =>
          client.writeFile(sandboxId, { path: file.path, content, encoding: 'base64' }, { signal, timeoutMs }),
        );
        return null;
      }),

    /**
     * Digest of a file in a sandbox, before the job changes it: null if the file does not exist, undefined if it is
     * unavailable, or if some attempts got no readable answer: the prompt does not wait for it. Safe to repeat.
     */
    fingerprintFile: (sandboxId: string, path: string): Promise<string | null | undefined> =>
      repeatable(async ({ call, attempt }) => {
        const timeoutMs = timeToReceive(attempt);
        try {
          const { content, encoding } = await call((signal) => client.readFile(sandboxId, path, { signal, timeoutMs }));
          return createHash('sha256').update(Buffer.from(content, encoding)).digest('hex');
        } catch (error) {
          if (isRefusal(error)) return error.status === 404 ? null : undefined;
          if (attempt >= triesToRead && isNoFile(error)) return undefined;
          throw error;
        }
      }),

    /**
     * Copies a file of a sandbox, or a folder as tar.gz, into the result store. The path of a folder ends with a slash. A
     * folder has any size, and is never in memory as a whole. A missing file or folder is not a failure. Safe to repeat.
     */
    collectFile: (input: CollectFileInput): Promise<CollectedFile> =>
      repeatable(async ({ call, attempt }) => {
        const { sandboxId, path, key } = input;
        const timeoutMs = timeToReceive(attempt);
        const file = { path, size: null, sha256: null, ref: null, error: null, partial: false, unchanged: null };
        try {
          if (isFolderPath(path)) {
            const stored = await call((signal) => storeFolder(input, signal));
            return stored
              ? { ...file, ...stored }
              : { ...file, error: `${path} is a file. Name it without the slash.` };
          }
          const read = await call((signal) => client.readFile(sandboxId, path, { signal, timeoutMs }));
          const { ref, size, sha256 } = await results.put(key, Buffer.from(read.content, read.encoding));
          return { ...file, size, sha256, ref };
        } catch (error) {
          if (!isRefusal(error) && !staysUnreadable(error, { attempt })) throw error;
          const { message } = error as Error;
          const isMissing = error instanceof ApiError && error.status === 404;
          return { ...file, error: cut(message, 500), ...(isMissing && { missing: true as const }) };
        }
      }),
  };
}

/** True if something answered, but not with the file. */
function isNoFile(error: unknown): boolean {
  return error instanceof UnexpectedResponseError || (error instanceof ApiError && error.meaning === 'unavailable');
}

/**
 * True if the service refuses this file permanently. If the sandbox is missing, the refusal is not permanent, because
 * the read may lag. The workflow then waits for the sandbox.
 */
export function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError && error.typed && error.meaning === 'permanent' && error.code !== 'sandbox_not_found'
  );
}
