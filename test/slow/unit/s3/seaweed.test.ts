/** The stores in a bucket of a real S3 server, with the tests that `test/unit` has over a fake. Tier: slow, 40 CPU seconds. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newKeyLine, parseKeyRing } from '../../../../src/encryption/index.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import { createSecretStore } from '../../../../src/secret-store/index.js';
import { storeContract } from '../../../unit/result-store/store-contract.js';
import { useBucketAt } from '../../../unit/s3/aws-settings.js';
import { bucketFaults } from '../../../unit/s3/bucket-faults.js';
import type { TestBucket } from '../../../unit/s3/fake-s3.js';
import { createFaultProxy, type FaultProxy } from '../../../unit/s3/fault-proxy.js';
import { secretContract } from '../../../unit/secret-store/store-contract.js';
import { readingKey, startSeaweed } from './seaweed.js';

let server: TestBucket;
let proxy: FaultProxy;
beforeAll(async () => {
  server = await startSeaweed();
  proxy = await createFaultProxy(server.endpoint);
});
afterAll(async () => {
  await proxy?.close();
  await server?.close();
});
beforeEach(() => useBucketAt(server.endpoint));

describe('a store in a bucket', () => {
  storeContract(() => createResultStore(`s3://results/${randomUUID()}`));
  bucketFaults(() => proxy, 'results');
});

describe('a secret store in a bucket', () => {
  const ring = parseKeyRing(newKeyLine('k'));
  let place: string;
  beforeEach(() => {
    place = `s3://results/${randomUUID()}`;
  });
  secretContract(() => createSecretStore(place, { ring }));
});

describe('the server refuses', () => {
  const reading = { AWS_ACCESS_KEY_ID: readingKey.id, AWS_SECRET_ACCESS_KEY: readingKey.secret };

  it.each([
    ['no-such-bucket', {}, 'Create the bucket'],
    ['results', { AWS_ACCESS_KEY_ID: 'UNKNOWNKEY' }, 'Correct AWS_ACCESS_KEY_ID'],
    ['results', { AWS_SECRET_ACCESS_KEY: 'another-secret-0123456789' }, 'Correct AWS_ACCESS_KEY_ID'],
    ['results', reading, 'The key needs s3:ListBucket'],
  ])('a write to %s with %j', async (bucket, settings, text) => {
    useBucketAt(server.endpoint, settings);
    const error = { code: 'store_refused', message: expect.stringContaining(text) };
    await expect(createResultStore(`s3://${bucket}/a`).checkWritable?.()).rejects.toMatchObject(error);
  });

  it('no read with a key that may only read', async () => {
    const { ref } = await createResultStore('s3://results/b').put('a', Buffer.from('text'));
    useBucketAt(server.endpoint, reading);
    expect((await createResultStore('s3://results/b').get(ref)).toString()).toBe('text');
  });
});
