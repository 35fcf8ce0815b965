/** Encrypts the objects of a result store. Names of objects are not encrypted, except digests in them. */
import { createHash, createHmac } from 'node:crypto';
import { SandflowError } from '../errors/sandflow-error.js';
import type { ResultStore, StoredObject } from '../result-store/index.js';
import { preparing, putAfter } from '../result-store/put-after.js';
import { seal, startSealing, unseal } from './cipher.js';
import { derivedKey, type KeyRing } from './key-ring.js';

/**
 * The first bytes of an encrypted object. No JSON, text or common kind of file begins with them. The length of the
 * key's id and the id follow.
 */
const magic = Buffer.from([0x00, 0x73, 0x66, 0x65, 0x6e, 0x63, 0x31, 0x00]);

/**
 * Wraps a store: objects are encrypted with the first key of the ring when they are written, and decrypted when they
 * are read. Sizes and digests are those of the plain content. Objects in the store that are not encrypted stay
 * readable. In addition to errors of the store, `get` throws SandflowError `encryption_key_unknown`, `not_decryptable`,
 * `not_encrypted`.
 * @param options.requireEncrypted refuses objects that are not encrypted; false by default
 * @example
 * const results = encryptResults(createResultStore('/srv/results'), ring, { requireEncrypted: true });
 */
export function encryptResults(
  store: ResultStore,
  ring: KeyRing,
  { requireEncrypted = false }: { readonly requireEncrypted?: boolean } = {},
): ResultStore {
  const { first } = ring;
  const header = Buffer.concat([magic, Buffer.from([first.id.length]), Buffer.from(first.id)]);
  const nameKey = derivedKey(first, 'object names 1');
  // A plain digest in a name would show which inputs have the same text, and would confirm a guess of the text.
  const nameOf = (key: string) =>
    key.replace(/(^|\/)inputs\/([0-9a-f]{64})$/, (_, before: string, digest: string) => {
      return `${before}inputs/${createHmac('sha256', nameKey).update(digest).digest('hex')}`;
    });

  async function put(
    content: Uint8Array,
    write: (sealed: Buffer) => Promise<Pick<StoredObject, 'ref'>>,
  ): Promise<StoredObject> {
    const { ref } = await write(Buffer.concat([header, seal(first, 'object 1', content)]));
    return { ref, size: content.byteLength, sha256: createHash('sha256').update(content).digest('hex') };
  }

  const encrypted: ResultStore = {
    put: (key, content, options) => put(content, (sealed) => store.put(nameOf(key), sealed, options)),

    async putStream(key, content) {
      const hash = createHash('sha256');
      let size = 0;
      async function* sealed() {
        const sealing = startSealing(first, 'object 1');
        yield Buffer.concat([header, sealing.begin]);
        for await (const piece of content) {
          hash.update(piece);
          size += piece.byteLength;
          yield sealing.update(piece);
        }
        yield sealing.end();
      }
      const { ref } = await store.putStream(nameOf(key), sealed());
      return { ref, size, sha256: hash.digest('hex') };
    },

    async get(ref, options) {
      const found = await store.get(ref, options);
      if (!found.subarray(0, magic.length).equals(magic)) {
        if (!requireEncrypted) return found;
        throw new SandflowError(
          'not_encrypted',
          'An object of the result store is not encrypted, and this process refuses such objects.',
        );
      }
      const idEnd = magic.length + 1 + (found[magic.length] ?? 0);
      const id = found.subarray(magic.length + 1, idEnd).toString('utf8');
      if (found.byteLength < idEnd) {
        throw new SandflowError('not_decryptable', 'An object of the result store is truncated.');
      }
      return unseal(ring, id, 'object 1', found.subarray(idEnd));
    },

    find: (key) => store.find(nameOf(key)),

    list: (folder) => store.list(folder),

    checkWritable: async () => store.checkWritable?.(),

    ...(store.listEach && { listEach: store.listEach.bind(store) }),
    ...(store.remove && { remove: store.remove.bind(store) }),
  };
  return preparing(encrypted, (after, key, content, options) =>
    put(content, (sealed) => putAfter(store, after, nameOf(key), sealed, options)),
  );
}
