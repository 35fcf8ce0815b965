/** A bucket that fails, over a fake of S3; `test/slow/unit/s3` runs the first part against a server. Tier: unit, 4 CPU seconds. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStored } from '../../../activities/store/texts.js';
import { newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { openBucket } from '../../../src/s3/bucket.js';
import { bucketError, faults } from '../../../src/s3/bucket-errors.js';
import { createSecretStore } from '../../../src/secret-store/index.js';
import { useBucketAt } from './aws-settings.js';
import { bucketFaults } from './bucket-faults.js';
import { createFakeS3, type TestBucket } from './fake-s3.js';
import { createFaultProxy, type FaultProxy } from './fault-proxy.js';

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

const unspoilt: Pick<FaultProxy, 'dropped' | 'spoil' | 'answered'> = {
  dropped: undefined,
  spoil: () => undefined,
  answered: (headers) => headers,
};

describe('a store in a bucket', () => bucketFaults(() => proxy, 'results'));

describe('the check at the start', () => {
  beforeEach(() => useBucketAt(proxy.endpoint, { AWS_MAX_ATTEMPTS: '1' }));
  afterEach(() => {
    Object.assign(proxy, unspoilt);
  });
  const check = async () => {
    const address = `s3://results/${randomUUID()}`;
    const error = await createResultStore(address)
      .checkWritable?.()
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    Object.assign(proxy, unspoilt);
    return { error, left: await openBucket(address).list('') };
  };

  it.each(['PUT', 'POST'].flatMap((method) => ['if-match', 'if-none-match'].map((header) => ({ method, header }))))(
    'refuses a bucket that ignores $header at $method',
    async (dropped) => {
      proxy.dropped = dropped;
      const message = expect.stringContaining('replaces objects that it was told not to replace');
      expect(await check()).toMatchObject({ error: { code: 'store_refused', message }, left: [] });
    },
  );

  it.each([
    ['weak', ({ etag = '', ...others }: Headers) => ({ ...others, etag: `W/${etag}` })],
    ['removed', ({ etag: _, ...others }: Headers) => others],
  ])('refuses a bucket whose ETags are %s', async (_, answered) => {
    proxy.answered = (headers) => (headers.etag ? answered(headers as Headers) : headers);
    const message = expect.stringContaining('has no strong ETag');
    expect(await check()).toMatchObject({ error: { code: 'store_refused', message }, left: [] });
  });

  it.each([
    ['PUT', 412, 'PreconditionFailed'],
    ['POST', 404, 'NoSuchUpload'],
  ])('refuses a bucket that honours no condition that is met at %s', async (wanted, status, code) => {
    let fits = 0;
    proxy.spoil = ({ method, url }) => {
      if (method !== wanted || (method === 'POST' && !url.includes('uploadId='))) return undefined;
      fits += 1;
      return method === 'PUT' && fits === 1 ? undefined : { status, code };
    };
    const message = expect.stringContaining('does not replace what it was told to replace');
    expect(await check()).toMatchObject({ error: { code: 'store_refused', message }, left: [] });
  });

  it.each([1, 2, 3, 4, 5])(
    'names another error than a conflict, and leaves nothing behind: the PUT %i',
    async (spoilt) => {
      let puts = 0;
      proxy.spoil = ({ method }) => {
        if (method === 'PUT') puts += 1;
        return method === 'PUT' && puts === spoilt ? { status: 503, code: 'SlowDown' } : undefined;
      };
      const message = expect.stringContaining('(SlowDown)');
      expect(await check()).toMatchObject({ error: { code: 'store_unreachable', message }, left: [] });
    },
  );

  it('leaves nothing behind where nothing can be read', async () => {
    proxy.spoil = ({ method, url }) =>
      method === 'GET' && url.includes('.tmp') ? { status: 403, code: 'AccessDenied' } : undefined;
    expect(await check()).toMatchObject({ error: { code: 'store_refused' }, left: [] });
  });
});

type Headers = Record<string, string>;

it('a write that is refused although the object stays the same is given up soon', async () => {
  useBucketAt(proxy.endpoint);
  const results = createResultStore(`s3://results/${randomUUID()}`);
  await results.put('a', Buffer.from('one'));
  proxy.calls.length = 0;
  proxy.spoil = ({ method }) => (method === 'PUT' ? { status: 412, code: 'PreconditionFailed' } : undefined);
  const put = results.put('a', Buffer.from('two'), { signal: new AbortController().signal });
  await expect(put).rejects.toMatchObject({ code: 'store_unreachable' });
  expect(proxy.calls.filter((method) => method === 'PUT')).toHaveLength(5);
  proxy.spoil = () => undefined;
});

it('the 404 of a proxy is no missing object, and one of a server without ids is', async () => {
  useBucketAt(proxy.endpoint);
  const results = createResultStore(`s3://results/${randomUUID()}`);
  proxy.spoil = () => ({ status: 404, body: '<html><body>404 Not Found</body></html>' });
  const told = { code: 'store_unreachable' };
  await expect(results.find('a')).rejects.toMatchObject(told);
  await expect(results.get('file-store:a')).rejects.toMatchObject(told);
  await expect(results.put('a', Buffer.from('x'))).rejects.toMatchObject(told);
  proxy.spoil = () => undefined;
  proxy.answered = ({ 'x-amz-request-id': _, ...others }) => others;
  expect(await results.find('a')).toBeNull();
  const { ref } = await results.put('a', Buffer.from('x'));
  expect(await results.find('a')).toBe(ref);
  proxy.answered = (headers) => headers;
});

it('a list that ends in the middle is no list', async () => {
  useBucketAt(proxy.endpoint);
  proxy.spoil = () => ({
    status: 200,
    body: '<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a/b</Key></Contents></ListBucketResult>',
  });
  const message = expect.stringContaining('ends its list in the middle');
  await expect(openBucket('s3://results/a').list('')).rejects.toMatchObject({ code: 'store_refused', message });
  proxy.spoil = () => undefined;
});

it('an answer that stalls is given up, and read again', async () => {
  useBucketAt(proxy.endpoint);
  const bucket = openBucket('s3://results/stalled', { socketTimeout: 3_000 });
  const content = randomBytes(300_000);
  await bucket.put('a', content, { tag: 'a' });
  let reads = 0;
  proxy.spoil = ({ method }) => {
    if (method === 'GET') reads += 1;
    return method === 'GET' && reads === 1 ? 'stalled' : undefined;
  };
  expect(content.equals((await bucket.get('a')) ?? Buffer.from(''))).toBe(true);
  expect(reads).toBe(2);
  proxy.spoil = () => undefined;
});

it('a bucket that does not exist is told from a missing object, and removing a missing one is no error', async () => {
  useBucketAt(proxy.endpoint);
  const missing = openBucket('s3://no-such-bucket/a');
  const told = { code: 'store_refused', message: expect.stringContaining('Create the bucket') };
  for (const call of [() => missing.has('a'), () => missing.list('a'), () => missing.remove('a')]) {
    await expect(call()).rejects.toMatchObject(told);
  }
  const bucket = openBucket('s3://results/a');
  expect(await bucket.has('missing')).toBe(false);
  proxy.spoil = () => ({ status: 404, code: 'NoSuchKey' });
  await bucket.remove('missing');
  proxy.spoil = () => undefined;
});

it('a text that a bucket does not give now is read again by the next attempt', async () => {
  useBucketAt(proxy.endpoint, { AWS_MAX_ATTEMPTS: '1' });
  for (const [status, code] of [
    [503, 'SlowDown'],
    [403, 'AccessDenied'],
    [507, 'XMinioStorageFull'],
  ] as const) {
    proxy.spoil = () => ({ status, code });
    const read = readStored(createResultStore('s3://results/a'), 'file-store:inputs/a');
    await expect(read).rejects.toMatchObject({
      name: 'SandflowError',
      code: expect.stringMatching(/^(store_|disk_full)/),
    });
  }
  proxy.spoil = () => undefined;
});

describe('an error of the bucket says what helps', () => {
  const answers = [
    ['no such bucket', 404, 'NoSuchBucket', 'store_refused', 'Create the bucket, or correct its name'],
    ['an unknown key', 403, 'InvalidAccessKeyId', 'store_refused', 'Correct AWS_ACCESS_KEY_ID'],
    ['a wrong secret', 403, 'SignatureDoesNotMatch', 'store_refused', 'Correct AWS_ACCESS_KEY_ID'],
    ['a key that has expired', 400, 'ExpiredToken', 'store_refused', 'Renew it and restart'],
    ['another region', 301, 'PermanentRedirect', 'store_refused', 'Set AWS_REGION'],
    ['a signature for another region', 400, 'AuthorizationHeaderMalformed', 'store_refused', 'Set AWS_REGION'],
    ['a wrong clock', 403, 'RequestTimeTooSkewed', 'store_refused', 'Set its clock'],
    ['a full disk', 507, 'XMinioStorageFull', 'disk_full', 'Free some space'],
    ['a quota that is used up', 403, 'QuotaExceeded', 'disk_full', 'Free some space'],
    ['a key that may only read', 403, 'AccessDenied', 'store_refused', 's3:PutObject'],
    ['a server without conditions', 501, 'NotImplemented', 'store_refused', 'If-None-Match'],
    ['another writer', 412, 'PreconditionFailed', 'store_unreachable', 'Try again'],
    ['another writer right now', 409, 'OperationAborted', 'store_unreachable', 'Try again'],
    ['a server that is busy for long', 503, 'SlowDown', 'store_unreachable', 'Try again later'],
  ] as const;

  it.each(answers)('%s', async (_, status, code, thrown, text) => {
    useBucketAt(proxy.endpoint, { AWS_MAX_ATTEMPTS: '1' });
    proxy.spoil = () => ({ status, code });
    const results = createResultStore('s3://results/a');
    const secrets = createSecretStore('s3://results/a', { ring: parseKeyRing(newKeyLine('k')) });
    const expected = {
      code: thrown,
      message: expect.stringMatching(new RegExp(`^The store s3://results/a .*${text}.*\\(${code}\\)`)),
    };
    await expect(results.put('a', Buffer.from('x'))).rejects.toMatchObject(expected);
    await expect(results.list('a')).rejects.toMatchObject(expected);
    // Jobs wait for space, so a worker may start without it.
    for (const store of [results, secrets]) {
      if (thrown === 'disk_full') await store.checkWritable?.();
      else await expect(store.checkWritable?.()).rejects.toMatchObject(expected);
    }
    proxy.spoil = () => undefined;
  });

  it.each([
    [
      'no network',
      { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' },
      'store_unreachable',
      /cannot be reached.*ECONNREFUSED/,
    ],
    ['a name that is unknown', { AWS_ENDPOINT_URL_S3: 'http://s3.invalid' }, 'store_unreachable', /cannot be reached/],
    ['no TLS', { https: 'true' }, 'store_unreachable', /cannot be reached.*wrong version number/],
    ['no region', { AWS_REGION: undefined }, 'store_refused', /Set AWS_REGION/],
    ['no key', { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, 'store_refused', /needs a key/],
  ])('%s', async (_, { https, ...settings }: Record<string, string | undefined>, code, message) => {
    useBucketAt(https ? proxy.endpoint.replace('http:', 'https:') : proxy.endpoint, {
      AWS_MAX_ATTEMPTS: '1',
      ...settings,
    });
    const put = createResultStore('s3://results/a').put('a', Buffer.from('x'));
    await expect(put).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  const rows = Object.entries(faults).flatMap(([code, texts]) =>
    Object.entries(texts).flatMap(([names, text]) => names.split('|').map((name) => ({ name, code, text }))),
  );
  it.each(rows)('$name', ({ name, code, text }) => {
    const $metadata = /^\d+$/.test(name) ? { httpStatusCode: Number(name) } : undefined;
    const isOfNode = /^E[A-Z_]+$/.test(name);
    const error = Object.assign(new Error(name), { name, $metadata, ...(isOfNode && { code: name }) });
    const message = isOfNode ? expect.stringContaining('cannot be reached') : expect.stringContaining(text);
    expect(bucketError(error, 's3://results')).toMatchObject({ code, message });
  });
});

it.each([
  's3://',
  's3://x',
  's3://Results/a',
  's3://results/a b',
  's3://results//a',
  's3://results/a?b',
  's3://key:secret@results',
])('what is no address of a bucket is refused: %s', (address) => {
  expect(() => createResultStore(address)).toThrow(/must be like s3:\/\/bucket\/prefix/);
});
