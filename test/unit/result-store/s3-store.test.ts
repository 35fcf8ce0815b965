/** The result store in a bucket, over a fake of S3; `test/slow/unit/s3` has a real server. Tier: unit, 3 CPU seconds. */
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/result-store/create-store.js';
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

it('an object that is removed while it is copied is missing, and not empty', async () => {
  const content = openStore(`s3://${fake.bucket}/${randomUUID()}`).getStream('file-store:a');
  await expect(buffer(content)).rejects.toMatchObject({ code: 'result_not_found' });
});
