/** A worker that a user puts together encodes like the workers of `sandflow worker`, which calls the same function. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { newKeyLine } from '../../../src/encryption/index.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { openEncoding } from '../../../src/worker/index.js';

const content = Buffer.from('a canary that nobody may find');
let home: string;
let keys: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sandflow-encoding-'));
  keys = join(home, 'keys');
  await writeFile(keys, newKeyLine('one'), { mode: 0o600 });
});
afterEach(() => rm(home, { recursive: true, force: true }));

const encodingWith = (settings: Record<string, string>) =>
  openEncoding(readConfig({ SANDFLOW_HOME: home, ...settings }));

test('with keys, a worker encrypts payloads and what it stores', async () => {
  const { ring, dataConverter, results } = await encodingWith({ SANDFLOW_ENCRYPTION_KEYS_FILE: keys });
  expect(ring?.first.id).toBe('one');
  expect(dataConverter?.payloadCodecs).toHaveLength(1);
  expect(dataConverter?.failureConverterPath).toContain('failure-converter');
  const { ref } = await results.put('a/b', content);
  expect(await results.get(ref)).toEqual(content);
  const stored = await readFile(join(home, 'results/a/b'));
  expect(stored.includes(content)).toBe(false);
});

test('a worker that requires encryption refuses payloads and objects that are not encrypted', async () => {
  const settings = { SANDFLOW_ENCRYPTION_KEYS_FILE: keys, SANDFLOW_REQUIRE_ENCRYPTED: 'true' };
  const { dataConverter, results } = await encodingWith(settings);
  const { ref } = await createResultStore(join(home, 'results')).put('a/b', content);
  await expect(results.get(ref)).rejects.toMatchObject({ code: 'not_encrypted' });
  const clear = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"text"') };
  await expect(dataConverter?.payloadCodecs?.[0]?.decode([clear])).rejects.toThrow(/not encrypted/);
});

test('without keys, a worker encrypts nothing', async () => {
  const { ring, dataConverter, results } = await encodingWith({});
  expect({ ring, dataConverter }).toEqual({ ring: undefined, dataConverter: undefined });
  const { ref } = await results.put('a/b', content);
  expect(ref).toBe('file-store:a/b');
  expect(await readFile(join(home, 'results/a/b'))).toEqual(content);
});

test('an unreadable file of keys is refused before anything is written', async () => {
  const opening = encodingWith({ SANDFLOW_ENCRYPTION_KEYS_FILE: join(home, 'missing') });
  await expect(opening).rejects.toMatchObject({ code: 'bad_configuration' });
});
