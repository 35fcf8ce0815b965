import { afterAll, beforeAll, expect, it } from 'vitest';
import { writtenFolders } from '../../../../src/cli/connect/full-disk.js';
import { checkBuckets } from '../../../../src/cli/doctor/check-buckets.js';
import { readConfig } from '../../../../src/config.js';
import { useBucketAt } from '../../s3/aws-settings.js';
import { createFakeS3, type TestBucket } from '../../s3/fake-s3.js';
import { createFaultProxy, type FaultProxy } from '../../s3/fault-proxy.js';

let fake: TestBucket;
let proxy: FaultProxy;
beforeAll(async () => {
  fake = await createFakeS3();
  proxy = await createFaultProxy(fake.endpoint);
});
afterAll(async () => {
  await proxy.close();
  await fake.close();
});

const config = (bucket: string) => readConfig({ SANDFLOW_RESULTS: `s3://${bucket}/a`, SANDFLOW_DEPLOYMENT: 'blue' });

it('a bucket is tried by a write, a read and a removal', async () => {
  useBucketAt(proxy.endpoint);
  const message = 'An object of s3://results/a/blue/results was written, read and removed.';
  expect(await checkBuckets(config('results'))).toEqual([{ name: 'results', status: 'ok', message, mend: null }]);
  const upload = ['POST', 'PUT', 'POST', 'DELETE'];
  const byPut = ['HEAD', 'PUT', 'GET', 'PUT', 'PUT'];
  const inParts = ['HEAD', 'POST', 'PUT', 'POST', 'GET', ...upload, ...upload];
  expect(proxy.calls).toEqual(['HEAD', 'GET', 'PUT', ...byPut, ...inParts, 'DELETE']);
});

it('secrets in a bucket fail without keys, as they stop a worker', async () => {
  useBucketAt(proxy.endpoint);
  const secrets = { SANDFLOW_SECRETS: 's3://results/a', SANDFLOW_DEPLOYMENT: 'blue' };
  const [check] = await checkBuckets(readConfig(secrets));
  const message = expect.stringContaining('would be unencrypted. Set SANDFLOW_ENCRYPTION_KEYS_FILE');
  expect(check).toMatchObject({ name: 'secrets', status: 'failed', message });
  const withKeys = readConfig({ ...secrets, SANDFLOW_ENCRYPTION_KEYS_FILE: '/srv/keys' });
  expect(await checkBuckets(withKeys)).toMatchObject([{ name: 'secrets', status: 'ok' }]);
});

it('a bucket that does not exist, or that is full, is named with what helps', async () => {
  useBucketAt(proxy.endpoint);
  const [missing] = await checkBuckets(config('no-such-bucket'));
  expect(missing).toMatchObject({ status: 'failed', message: expect.stringContaining('Create the bucket') });
  proxy.spoil = () => ({ status: 507, code: 'XMinioStorageFull' });
  const [full] = await checkBuckets(config('results'));
  expect(full).toMatchObject({ status: 'failed', message: expect.stringContaining('is full') });
});

it('a directory is no bucket, and a bucket is on no disk of this machine', async () => {
  expect(await checkBuckets(readConfig({ SANDFLOW_HOME: '/srv', SANDFLOW_SECRETS: '/srv/secrets' }))).toEqual([]);
  const paths = writtenFolders(config('results')).map(({ path }) => path);
  expect(paths).toContain(config('results').home);
  expect(paths.join()).not.toContain('s3:');
});
