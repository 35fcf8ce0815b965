/**
 * Opens the configured encryption and the result store that it protects, for clients. They must agree with the workers
 * on both.
 */
import type { Config } from '../../config.js';
import { createEncryptedDataConverter, encryptResults, readKeyRing } from '../../encryption/index.js';
import { createResultStore, type ResultStore } from '../../result-store/index.js';

export type Encryption = Awaited<ReturnType<typeof openEncryption>>;

/**
 * @returns neither keys nor a converter if payloads are not encrypted
 * @throws SandflowError `bad_configuration` if the file of keys is invalid
 */
export async function openEncryption({ encryption }: Pick<Config, 'encryption'>) {
  if (!encryption) return { ring: undefined, dataConverter: undefined };
  const ring = await readKeyRing(encryption.keysFile);
  return { ring, dataConverter: createEncryptedDataConverter(ring) };
}

export function openResults(config: Pick<Config, 'results'>, { ring }: Pick<Encryption, 'ring'>): ResultStore {
  const store = createResultStore(config.results);
  return ring ? encryptResults(store, ring) : store;
}
