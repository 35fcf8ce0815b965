/** The result store in a bucket, over a fake of S3; `test/slow/unit/s3` has a real server. Tier: unit, 3 CPU seconds. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { createResultStore } from '../../../src/result-store/index.js';
import { useBucketAt } from '../s3/aws-settings.js';
import { createFakeS3, type TestBucket } from '../s3/fake-s3.js';
import { storeContract } from './store-contract.js';

let fake: TestBucket;
beforeAll(async () => {
  fake = await createFakeS3();
});
afterAll(() => fake.close());
beforeEach(() => useBucketAt(fake.endpoint));

describe('a store in a bucket', () => storeContract(() => createResultStore(`s3://${fake.bucket}/${randomUUID()}`)));
