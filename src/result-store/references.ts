/** Keys and references of the result store. They are the same in each keeper, so that a store can be moved. */
import { SandflowError } from '../errors/sandflow-error.js';

const scheme = 'file-store:';

export const refOf = (key: string) => scheme + key;

/** What an interrupted write, or a check, has left. */
export const isTemporary = (key: string) => /(^|\/)\.[^/]*\.tmp$/.test(key);

/** @throws SandflowError `result_not_found` for a reference of another kind of store */
export function keyOf(ref: string): string {
  if (ref.startsWith(scheme)) return ref.slice(scheme.length);
  throw new SandflowError('result_not_found', 'This reference belongs to another result store.');
}

export function notStored(store: string, key: string, cause?: unknown): SandflowError {
  const message = `The result store at ${store} has no "${key}". Do the worker and this command share it?`;
  return new SandflowError('result_not_found', message, { cause });
}

export function outside(cause?: unknown): SandflowError {
  return new SandflowError('bad_result_key', 'A key of the result store must stay inside it.', { cause });
}

/** @throws SandflowError `result_too_large` */
export function requireAtMost(maxBytes: number, bytes: number): void {
  if (bytes <= maxBytes) return;
  const message = `The object of the result store has ${bytes} bytes, and this call reads at most ${maxBytes}.`;
  throw new SandflowError('result_too_large', message);
}
