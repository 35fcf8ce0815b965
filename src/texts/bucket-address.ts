/** The address of a store in a bucket: `s3://bucket/prefix`. */

const pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9!_.*'()-]+)*)\/?$/;

/** True for a place that is not a directory. */
export const isBucketAddress = (place: string) => place.startsWith('s3://');

/** The bucket, and the prefix without a slash at its ends; undefined for what is no such address. */
export function readBucketAddress(address: string): { readonly bucket: string; readonly prefix: string } | undefined {
  const [, bucket, path] = pattern.exec(address) ?? [];
  return bucket === undefined || path === undefined ? undefined : { bucket, prefix: path.slice(1) };
}

/** Says what is wrong with an address, as the end of a message; undefined if nothing is. */
export function bucketAddressProblem(address: string): string | undefined {
  if (readBucketAddress(address)) return undefined;
  return 'must be like s3://bucket/prefix, with letters, digits, dots, dashes and underscores in the prefix';
}
