/** The deployment's encryption, as configured: the same for everything that talks to Temporal or reads results. */
import type { DataConverter } from '@temporalio/common';
import type { Config } from '../../config.js';
import { createEncryptedDataConverter, type KeyRing, readKeyRing } from '../../encryption/index.js';

export interface Encryption {
  /** Undefined where payloads travel in clear. */
  readonly ring: KeyRing | undefined;
  /** For clients. */
  readonly dataConverter: DataConverter | undefined;
  /** For workers, which refuse what is not encrypted where that is configured. */
  readonly workerDataConverter: DataConverter | undefined;
}

/** @throws SandflowError `bad_configuration` where the file of keys is not as it must be */
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
