import { requireOptions } from '../settings/required-options.js';
import { isBucketAddress } from '../texts/bucket-address.js';
import { createDirectoryStore } from './directory-store.js';
import type { CopiedStore, ResultStore } from './result-store.js';
import { createBucketStore } from './s3-store.js';

/**
 * Creates a result store in a directory, for workers and users that share a host or a file system, or in a bucket of S3,
 * for those that share neither. Nothing is read or written before the first call.
 *
 * @param place a directory, which is created if it is missing, with files of mode 600; or `s3://bucket/prefix`, which
 *   needs the package `@aws-sdk/client-s3` and takes endpoint, region and key from AWS's own settings
 * @throws SandflowError `bad_configuration` for an address that begins with `s3://` and is none. In a bucket, all calls
 *   throw `store_refused`, `store_unreachable` and, when they write, `disk_full`
 * @example
 * const results = createResultStore('/srv/results');
 * const { ref } = await results.put('notes/today', Buffer.from('hello'));
 */
export function createResultStore(place: string): ResultStore {
  requireOptions({ place }, { place: 'a text' });
  return openStore(place);
}

export const openStore = (place: string): CopiedStore =>
  isBucketAddress(place) ? createBucketStore(place) : createDirectoryStore(place);
