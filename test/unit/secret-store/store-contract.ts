/** What every secret store promises, wherever it keeps its secrets. */
import { expect, it } from 'vitest';
import type { SecretStore } from '../../../src/secret-store/index.js';

/** @param open opens the same store at each call; it is empty at the beginning of a test */
export function secretContract(open: () => SecretStore): void {
  it('returns a secret by a reference that reveals nothing of it', async () => {
    const ref = await open().put('webhook-wh_1', 'whsec_ü\n');
    expect(ref).toBe('secret-store:webhook-wh_1');
    expect(await open().get(ref)).toBe('whsec_ü\n');
  });

  it('keeps the last secret of a name', async () => {
    const store = open();
    const refs = await Promise.all([store.put('a', 'one'), store.put('a', 'one'), store.put('b', 'two')]);
    await store.put('a', 'three');
    expect(await store.get(refs[0])).toBe('three');
    expect(await store.list()).toEqual(['a', 'b']);
  });

  it('deletes a secret, and accepts a second deletion', async () => {
    const store = open();
    const ref = await store.put('a', 'x');
    await store.delete(ref);
    await store.delete(ref);
    await expect(store.get(ref)).rejects.toMatchObject({ code: 'secret_not_found' });
    expect(await store.list()).toEqual([]);
  });

  it.each(['', '.', '..', '../a', 'a/b', '.hidden', 'a\0b', 'a'.repeat(129), 'ü'])(
    'refuses the name %j',
    async (name) => {
      const store = open();
      await expect(store.put(name, 'whsec_x')).rejects.toMatchObject({ code: 'bad_secret_name' });
      await expect(store.get(`secret-store:${name}`)).rejects.toMatchObject({ code: 'bad_secret_name' });
      await expect(store.delete(`secret-store:${name}`)).rejects.toMatchObject({ code: 'bad_secret_name' });
      expect(await store.list()).toEqual([]);
    },
  );

  it('rejects the references of others', async () => {
    await expect(open().get('file-store:a')).rejects.toMatchObject({ code: 'secret_not_found' });
  });
}
