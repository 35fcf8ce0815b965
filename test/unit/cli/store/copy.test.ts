/** Moving the stores of a deployment into a bucket, over a fake of S3. Tier: unit. */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../../../src/config.js';
import { newKeyLine, parseKeyRing } from '../../../../src/encryption/index.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import { createSecretStore } from '../../../../src/secret-store/index.js';
import { useBucketAt } from '../../s3/aws-settings.js';
import { createFakeS3, type TestBucket } from '../../s3/fake-s3.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

const keyLine = newKeyLine('k');
const ring = parseKeyRing(keyLine);
let fake: TestBucket;
let env: Record<string, string>;
let to: string;
beforeAll(async () => {
  fake = await createFakeS3();
});
afterAll(() => fake.close());
beforeEach(async () => {
  useBucketAt(fake.endpoint);
  to = `s3://results/${randomUUID()}`;
  const home = await temporaryDirectory();
  const keys = join(home, 'keys');
  await writeFile(keys, keyLine, { mode: 0o600 });
  env = { SANDFLOW_HOME: home, SANDFLOW_DEPLOYMENT: 'blue', SANDFLOW_ENCRYPTION_KEYS_FILE: keys };
});

const storesOf = (settings: Record<string, string>) => {
  const { results, secrets } = readConfig({ ...env, ...settings });
  return { results: createResultStore(results), secrets: createSecretStore(secrets, { ring }) };
};
const moved = () => storesOf({ SANDFLOW_RESULTS: to, SANDFLOW_SECRETS: to });
const copy = (interrupted?: AbortSignal) => cli(['store', 'copy', '--to', to], { env, interrupted });

it('results and secrets have the same references in the bucket, and a repetition copies what has changed', async () => {
  const { results, secrets } = storesOf({});
  const [first, second] = [
    await results.put('job/a', Buffer.from('one')),
    await results.put('job/b', Buffer.from('two')),
  ];
  const secret = await secrets.put('webhook', 'whsec_x');
  const done = await copy();
  expect(done).toMatchObject({ exitCode: 0, stderr: '' });
  expect(done.stdout).toBe(
    `1 secret copied to ${to}/blue/secrets, 0 already there\n2 results copied to ${to}/blue/results, 0 already there\n`,
  );
  await results.put('job/b', Buffer.from('three'));
  await results.put('job/c', Buffer.from('four'));
  expect((await copy()).stdout).toMatch(/^0 secrets copied .* 1 already there\n2 results copied .* 1 already there\n$/);
  const there = moved();
  expect((await there.results.get(first.ref)).toString()).toBe('one');
  expect((await there.results.get(second.ref)).toString()).toBe('three');
  expect(await there.secrets.get(secret)).toBe('whsec_x');
});

it('nothing that a worker has written to the bucket is replaced', async () => {
  const [before, after] = [storesOf({}), moved()];
  const { ref } = await before.results.put('job/a', Buffer.from('old'));
  const secret = await before.secrets.put('webhook', 'old');
  await copy();
  await after.results.put('job/a', Buffer.from('newer'));
  await after.secrets.put('webhook', 'newer');
  await before.results.put('job/a', Buffer.from('late'));
  expect((await copy()).stdout).toMatch(/^0 secrets copied .* 1 already there\n0 results copied .* 1 already there\n$/);
  expect((await after.results.get(ref)).toString()).toBe('newer');
  expect(await after.secrets.get(secret)).toBe('newer');
});

it('what a worker has written stays, also if it was the same as the copy', async () => {
  const [before, after] = [storesOf({}), moved()];
  const { ref } = await before.results.put('job/a', Buffer.from('same'));
  await copy();
  await after.results.put('job/a', Buffer.from('same'));
  await before.results.put('job/a', Buffer.from('late'));
  await copy();
  expect((await after.results.get(ref)).toString()).toBe('same');
});

it('a long object is copied piece by piece, and once', async () => {
  const content = randomBytes(17 * 1024 * 1024);
  const { ref } = await storesOf({}).results.put('job/long', content);
  expect((await copy()).stdout).toContain('1 result copied');
  expect((await copy()).stdout).toContain('0 results copied');
  expect(content.equals(await moved().results.get(ref))).toBe(true);
});

it('what cannot be copied is named, and the rest is copied', async () => {
  const { results } = storesOf({});
  const long = Array.from({ length: 5 }, () => 'x'.repeat(200)).join('/');
  await results.put(long, Buffer.from('too long for a bucket'));
  const { ref } = await results.put('job/a', Buffer.from('one'));
  const { exitCode, stdout, stderr } = await copy();
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('1 result copied') });
  expect(stderr).toContain(`The result ${long} was not copied: `);
  expect((await moved().results.get(ref)).toString()).toBe('one');
});

it('a secret that was deleted after a copy is named', async () => {
  const { secrets } = storesOf({});
  const ref = await secrets.put('webhook', 'whsec_x');
  await copy();
  await secrets.delete(ref);
  expect((await copy()).stderr).toContain(`Only in ${to}/blue/secrets: webhook. Remove there what was deleted`);
});

it.each(['results', 'secrets'] as const)('an interrupt ends the copy of %s', async (kind) => {
  const { results, secrets } = storesOf({});
  await (kind === 'results' ? results.put('a', Buffer.from('one')) : secrets.put('a', 'whsec_x'));
  expect(await copy(AbortSignal.abort())).toMatchObject({ exitCode: 130, stderr: 'error: Interrupted.\n' });
  expect([await moved().results.list(''), await moved().secrets.list()]).toEqual([[], []]);
});

it('without keys, secrets stay where they are, and it says so', async () => {
  const { SANDFLOW_ENCRYPTION_KEYS_FILE: _, ...without } = env;
  env = without;
  const { secrets, home } = readConfig(env);
  await createSecretStore(secrets).put('webhook', 'whsec_x');
  const { stderr, stdout } = await copy();
  expect(stderr).toContain(`The secrets stay in ${join(home, 'secrets')}: without SANDFLOW_ENCRYPTION_KEYS_FILE`);
  expect(stdout).toBe(`0 results copied to ${to}/blue/results, 0 already there\n`);
});

it.each([
  [['store', 'copy'], '--to'],
  [['store', 'copy', '--to', '/srv/results'], '--to must be like s3://bucket/prefix'],
])('%j is refused', async (args, text) => {
  const { exitCode, stderr } = await cli(args, { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(text) });
});

it('a copy onto itself, or to a bucket that does not exist, is refused', async () => {
  const onto = await cli(['store', 'copy', '--to', to], { env: { ...env, SANDFLOW_RESULTS: to } });
  expect(onto).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is where a store is already') });
  const missing = await cli(['store', 'copy', '--to', 's3://no-such-bucket'], { env });
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Create the bucket') });
});
