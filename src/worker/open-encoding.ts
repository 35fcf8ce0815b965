import type { DataConverter } from '@temporalio/common';
import { createEncryptedDataConverter, encryptResults, type KeyRing, readKeyRing } from '../encryption/index.js';
import { createResultStore, type ResultStore } from '../result-store/index.js';

/** How a worker encodes what it writes. */
export interface Encoding {
  /** Undefined if nothing is encrypted. */
  readonly ring: KeyRing | undefined;
  /** For Temporal. Undefined if nothing is encrypted. */
  readonly dataConverter: DataConverter | undefined;
  readonly results: ResultStore;
}

/**
 * Opens the keys and the result store that the environment names, so that a worker encodes like the others of its
 * deployment: pass `dataConverter` and `results` to `createSandflowWorker`, and `dataConverter` to its clients.
 * @param config what `readConfig` returns
 * @throws SandflowError `bad_configuration` if the file of keys is invalid
 * @example
 * const { dataConverter, results } = await openEncoding(readConfig());
 * const client = await connectTemporal(config.temporal.connect, { dataConverter });
 */
export async function openEncoding(config: {
  readonly results: string;
  readonly encryption?: { readonly keysFile: string; readonly requireEncrypted: boolean };
}): Promise<Encoding> {
  const store = createResultStore(config.results);
  if (!config.encryption) return { ring: undefined, dataConverter: undefined, results: store };
  const { keysFile, requireEncrypted } = config.encryption;
  const ring = await readKeyRing(keysFile);
  return {
    ring,
    dataConverter: createEncryptedDataConverter(ring, { requireEncrypted }),
    results: encryptResults(store, ring, { requireEncrypted }),
  };
}
