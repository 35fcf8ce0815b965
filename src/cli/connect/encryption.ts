/** Opens the configured encryption and the result store that it protects. Clients and workers must agree on both. */
import type { DataConverter } from '@temporalio/common';
import type { Config } from '../../config.js';
import { createEncryptedDataConverter, encryptResults, type KeyRing, readKeyRing } from '../../encryption/index.js';
import { createResultStore, type ResultStore } from '../../result-store/index.js';

export interface Encryption {
  /** Undefined if payloads are not encrypted. */
  readonly ring: KeyRing | undefined;
  /** For clients. */
  readonly dataConverter: DataConverter | undefined;
  /** For workers, which may be configured to refuse payloads that are not encrypted. */
  readonly workerDataConverter: DataConverter | undefined;
}

/** @throws SandflowError `bad_configuration` if the file of keys is invalid */
export async function openEncryption({ encryption }: Pick<Config, 'encryption'>): Promise<Encryption> {
  if (!encryption) return { ring: undefined, dataConverter: undefined, workerDataConverter: undefined };
  const ring = await readKeyRing(encryption.keysFile);
  const { requireEncrypted } = encryption;
  return {
    ring,
    dataConverter: createEncryptedDataConverter(ring),
    workerDataConverter: createEncryptedDataConverter(ring, { requireEncrypted }),
  };
}

export function openResults(
  config: Pick<Config, 'results'>,
  { ring }: Pick<Encryption, 'ring'>,
  { requireEncrypted = false } = {},
): ResultStore {
  const store = createResultStore(config.results);
  return ring ? encryptResults(store, ring, { requireEncrypted }) : store;
}
