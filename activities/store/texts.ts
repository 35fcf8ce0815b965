/** Values that are too large for history: stored in the result store, and read right before their use. */
import { hash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { unanswered } from '../../src/contract/workflow-safe/service-failure.js';
import { SandflowError } from '../../src/errors/sandflow-error.js';
import { withAnySignal } from '../../src/os/any-signal.js';
import { bytesOf, type Text } from '../../src/protocol/stored-text.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { storedJson } from '../../src/result-store/stored-json.js';
import { whileAttemptLives, withHeartbeat } from '../retry/attempt.js';
import { finalFailure } from '../retry/classify.js';

/** Writes an object that programs read back under `key`. @returns its reference. Safe to repeat. */
export function storeObjectActivity(results: ResultStore) {
  return async function storeObject(key: string, content: object): Promise<string> {
    // An attempt that Temporal has given up must not replace what the next one stores.
    const { cancellationSignal } = Context.current();
    const put = (lives: AbortSignal) =>
      withAnySignal([cancellationSignal, lives], (signal) => results.put(key, storedJson(content), { signal }));
    return withHeartbeat(async () => (await whileAttemptLives(put)).ref);
  };
}

/**
 * Reads a full text.
 * @throws ApplicationFailure `result_not_found` as `readStored`
 */
export async function readText(results: ResultStore, text: Text): Promise<string> {
  if (typeof text === 'string') return text;
  const content = await readStored(results, text.ref);
  if (hash('sha256', content) === text.sha256) return content.toString('utf8');
  throw unreadable(`The object ${text.ref} of the result store is not the text that was stored there.`);
}

/**
 * The limit is the same as for the answer of a call. The input of a workflow chooses the object, and a store may
 * contain very large objects, such as downloaded disks. A worker that reads many of them at once would run out of
 * memory.
 */
const maxStoredBytes = 64 * 1024 * 1024;

/**
 * Reads an object of the result store, of at most 64 MiB.
 * @throws ApplicationFailure `result_not_found` or `result_too_large`, which are final: another attempt cannot read it.
 * Another attempt may reach a store that did not answer or that refused its key
 */
export async function readStored(results: ResultStore, ref: string): Promise<Buffer> {
  try {
    return await results.get(ref, { maxBytes: maxStoredBytes });
  } catch (error) {
    if (error instanceof SandflowError && !/^(store_|disk_full$)/.test(error.code)) {
      throw unreadable(error.message, error.code === 'result_too_large' ? error.code : 'result_not_found');
    }
    throw error;
  }
}

/** True if `content` is this text; a stored text is compared by its digest. */
export function isSameText(text: Text, content: unknown): boolean {
  if (typeof text === 'string') return content === text;
  return typeof content === 'string' && bytesOf(content) === text.bytes && hash('sha256', content) === text.sha256;
}

function unreadable(message: string, code = 'result_not_found'): Error {
  return finalFailure({ ...unanswered, code, message, meaning: 'permanent' });
}
