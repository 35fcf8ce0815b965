/** Secrets in a bucket, over a fake of S3; `test/slow/unit/s3` has a real server. Tier: unit. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { openBucket } from '../../../src/s3/bucket.js';
import { createSecretStore } from '../../../src/secret-store/index.js';
import { useBucketAt } from '../s3/aws-settings.js';
import { createFakeS3, type TestBucket } from '../s3/fake-s3.js';
import { secretContract } from './store-contract.js';

const [first, second] = [newKeyLine('1'), newKeyLine('2')];
const ring = parseKeyRing(first);
let fake: TestBucket;
let place: string;
beforeAll(async () => {
  fake = await createFakeS3();
});
afterAll(() => fake.close());
beforeEach(() => {
  useBucketAt(fake.endpoint);
  place = `s3://${fake.bucket}/${randomUUID()}`;
});

describe('a secret store in a bucket', () => {
  secretContract(() => createSecretStore(place, { ring }));

  it('is refused without keys, with what helps', () => {
    expect(() => createSecretStore(place)).toThrow(/would be unencrypted. Set SANDFLOW_ENCRYPTION_KEYS_FILE/);
  });

  it('sends nothing of a secret unencrypted', async () => {
    await createSecretStore(place, { ring }).put('a', 'whsec_canary');
    const sent = (await openBucket(place).get('a'))?.toString() ?? '';
    expect(JSON.parse(sent)).toEqual({ key: '1', sealed: expect.any(String) });
    expect(`${sent}${Buffer.from(JSON.parse(sent).sealed, 'base64')}`).not.toContain('canary');
  });

  it('reads what an earlier key encrypted, and nothing without that key', async () => {
    const ref = await createSecretStore(place, { ring }).put('a', 'x');
    expect(await createSecretStore(place, { ring: parseKeyRing(`${second}\n${first}`) }).get(ref)).toBe('x');
    const other = createSecretStore(place, { ring: parseKeyRing(second) });
    await expect(other.get(ref)).rejects.toMatchObject({ code: 'encryption_key_unknown' });
  });

  it('refuses a secret that was put under another name, and what it has not written', async () => {
    const store = createSecretStore(place, { ring });
    await store.put('a', 'x');
    const bucket = openBucket(place);
    await bucket.put('b', (await bucket.get('a')) ?? Buffer.from(''), { tag: 'moved' });
    await expect(store.get('secret-store:b')).rejects.toMatchObject({ code: 'not_decryptable' });
    for (const text of ['whsec_x', '{"key":1}', 'null']) {
      await bucket.put('c', Buffer.from(text), { tag: text });
      await expect(store.get('secret-store:c')).rejects.toMatchObject({ code: 'not_encrypted' });
    }
  });
});
