import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecretStore } from '../../../src/secret-store/index.js';

let parent: string;
let directory: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sandflow-secrets-'));
  directory = join(parent, 'secrets');
});
afterEach(() => rm(parent, { recursive: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('a secret store in a directory', () => {
  it('returns a secret by a reference that reveals nothing of it', async () => {
    const store = createSecretStore(directory);
    const ref = await store.put('webhook-wh_1', 'whsec_ü\n');
    expect(ref).not.toContain('whsec');
    expect(await createSecretStore(directory).get(ref)).toBe('whsec_ü\n');
  });

  it('is readable only by its owner, even if the directory was open to others', async () => {
    await mkdir(directory);
    await chmod(directory, 0o755);
    await createSecretStore(directory).put('a', 'x');
    expect(await modeOf(directory)).toBe(0o700);
    expect(await modeOf(join(directory, 'a'))).toBe(0o600);
  });

  it('keeps the last secret of a name, and leaves nothing else', async () => {
    const store = createSecretStore(directory);
    const refs = await Promise.all([store.put('a', 'one'), store.put('a', 'one'), store.put('b', 'two')]);
    await store.put('a', 'three');
    expect(await store.get(refs[0])).toBe('three');
    expect(await readdir(directory)).toEqual(['a', 'b']);
    expect(await store.list()).toEqual(['a', 'b']);
  });

  it('deletes a secret, and accepts a second deletion', async () => {
    const store = createSecretStore(directory);
    const ref = await store.put('a', 'x');
    await store.delete(ref);
    await store.delete(ref);
    await expect(store.get(ref)).rejects.toMatchObject({ code: 'secret_not_found' });
    expect(await store.list()).toEqual([]);
  });

  it('creates nothing before the first secret', async () => {
    expect(await createSecretStore(directory).list()).toEqual([]);
    expect(await readdir(parent)).toEqual([]);
  });

  it.each(['', '.', '..', '../a', 'a/b', '.hidden', 'a\0b', 'a'.repeat(129), 'ü'])(
    'refuses the name %j',
    async (name) => {
      const store = createSecretStore(directory);
      await expect(store.put(name, 'whsec_x')).rejects.toMatchObject({ code: 'bad_secret_name' });
      await expect(store.get(`secret-store:${name}`)).rejects.toMatchObject({ code: 'bad_secret_name' });
      await expect(store.delete(`secret-store:${name}`)).rejects.toMatchObject({ code: 'bad_secret_name' });
      expect(await readdir(parent)).toEqual([]);
    },
  );

  it('rejects the references of others', async () => {
    await expect(createSecretStore(directory).get('file-store:a')).rejects.toMatchObject({ code: 'secret_not_found' });
  });

  it('that cannot be written reports its location, and not the secret', async () => {
    await writeFile(directory, 'a file');
    const error = await createSecretStore(directory)
      .put('a', 'whsec_x')
      .catch((one: unknown) => one);
    expect(error).toMatchObject({ code: 'secret_store_unwritable', message: expect.stringContaining(directory) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('whsec_x');
  });
});
