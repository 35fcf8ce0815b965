/** Tries the stores that are in buckets: a write, a read and a removal. */
import type { Config } from '../../config.js';
import { openBucket } from '../../s3/bucket.js';
import { unencrypted } from '../../secret-store/create-store.js';
import { isBucketAddress } from '../../texts/bucket-address.js';
import { failureOf } from '../errors.js';
import { type Check, failed, ok } from './check.js';

export async function checkBuckets(config: Pick<Config, 'results' | 'secrets' | 'encryption'>): Promise<Check[]> {
  const { results, secrets, encryption } = config;
  const stores = Object.entries({ results, secrets }).filter(([, place]) => isBucketAddress(place));
  const isKept = (name: string) => name !== 'secrets' || encryption !== undefined;
  return Promise.all(stores.map(([name, address]) => tried(name, address, isKept(name))));
}

async function tried(name: string, address: string, isKept: boolean): Promise<Check> {
  try {
    if (!isKept) throw unencrypted(address);
    await openBucket(address).check();
    return ok(name, `An object of ${address} was written, read and removed.`);
  } catch (error) {
    return failed(
      name,
      failureOf(error).error.message,
      'Do what the message says; see docs/configuration.md, "Stores in a bucket".',
    );
  }
}
