/**
 * The JSON objects of the result store that programs read back, each with the version of its form. Another version may
 * read them: a store outlives the release that wrote it.
 */
import { SandflowError } from '../errors/sandflow-error.js';
import type { ResultStore } from './result-store.js';

/** Every change that an earlier reader would misread takes the next number. */
const formVersion = 1;

/** The content of an object that `readStoredJson` reads. */
export function storedJson(value: object): Buffer {
  return Buffer.from(JSON.stringify({ version: formVersion, ...value }));
}

/** @throws SandflowError `result_of_other_version`; as `get` of the store */
export async function readStoredJson<T extends object>(store: Pick<ResultStore, 'get'>, ref: string): Promise<T> {
  const { version, ...value } = parsed((await store.get(ref)).toString('utf8'));
  if (version === formVersion) return value as T;
  const found = version === undefined ? 'no version' : `version ${JSON.stringify(version)}`;
  throw new SandflowError(
    'result_of_other_version',
    `The object ${ref} of the result store has ${found}, and this version of sandflow reads only version ${formVersion}. Use the version of sandflow that wrote it.`,
  );
}

/** Something else than a JSON object has no version. No other read of it shows another content. */
function parsed(text: string): { readonly version?: unknown } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/**
 * Reads the object with this key; null if there is none.
 * @throws as `readStoredJson`
 */
export async function findStoredJson<T extends object>(
  store: Pick<ResultStore, 'get' | 'find'>,
  key: string,
): Promise<T | null> {
  const ref = await store.find(key);
  return ref === null ? null : readStoredJson<T>(store, ref);
}
