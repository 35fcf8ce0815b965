import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecretStore } from '../../../src/secret-store/index.js';
import { secretContract } from './store-contract.js';

let parent: string;
let directory: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sandflow-secrets-'));
  directory = join(parent, 'secrets');
});
afterEach(() => rm(parent, { recursive: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('a secret store in a directory', () => {
  secretContract(() => createSecretStore(directory));

  it('is readable only by its owner, even if the directory was open to others', async () => {
    await mkdir(directory);
    await chmod(directory, 0o755);
    await createSecretStore(directory).put('a', 'x');
    expect(await modeOf(directory)).toBe(0o700);
    expect(await modeOf(join(directory, 'a'))).toBe(0o600);
  });

  it('leaves nothing else than the secret', async () => {
    const store = createSecretStore(directory);
    await Promise.all([store.put('a', 'one'), store.put('a', 'two')]);
    expect(await readdir(directory)).toEqual(['a']);
  });

  it('creates nothing before the first secret', async () => {
    expect(await createSecretStore(directory).list()).toEqual([]);
    expect(await readdir(parent)).toEqual([]);
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
