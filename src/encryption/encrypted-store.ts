/** Encrypts the objects of a result store. Names of objects are not encrypted, except digests in them. */
import { createHash, createHmac } from 'node:crypto';
import { SandflowError } from '../errors/sandflow-error.js';
import type { ResultStore, StoredObject } from '../result-store/index.js';
import { preparing, putAfter } from '../result-store/put-after.js';
import { seal, startSealing, startUnsealing, unseal } from './cipher.js';
import { derivedKey, type KeyRing } from './key-ring.js';

/**
 * The first bytes of an encrypted object. No JSON, text or common kind of file begins with them. The length of the
 * key's id and the id follow.
 */
const magic = Buffer.from([0x00, 0x73, 0x66, 0x65, 0x6e, 0x63, 0x31, 0x00]);

const unchanged = { update: (piece: Uint8Array) => piece, end: () => Buffer.alloc(0) };
/** The magic, the length of the id, and the longest id that a length of one byte allows. */
const longestHead = magic.length + 1 + 255;

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
  const getStream = store.getStream?.bind(store);
  const header = Buffer.concat([magic, Buffer.from([first.id.length]), Buffer.from(first.id)]);
  const nameKey = derivedKey(first, 'object names 1');
  // A plain digest in a name would show which inputs have the same text, and would confirm a guess of the text.
  const nameOf = (key: string) =>
    key.replace(/(^|\/)inputs\/([0-9a-f]{64})$/, (_, before: string, digest: string) => {
      return `${before}inputs/${createHmac('sha256', nameKey).update(digest).digest('hex')}`;
    });

  /**
   * @param found an object, or its beginning with at least `longestHead` bytes
   * @returns undefined for an object that is not encrypted, and may be so
   */
  function headOf(found: Buffer): { readonly id: string; readonly end: number } | undefined {
    if (!found.subarray(0, magic.length).equals(magic)) {
      if (!requireEncrypted) return undefined;
      throw new SandflowError(
        'not_encrypted',
        'An object of the result store is not encrypted, and this process refuses such objects.',
      );
    }
    const end = magic.length + 1 + (found[magic.length] ?? 0);
    if (found.byteLength < end) {
      throw new SandflowError('not_decryptable', 'An object of the result store is truncated.');
    }
    return { id: found.subarray(magic.length + 1, end).toString('utf8'), end };
  }

  async function* plainPieces(stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let begin = Buffer.alloc(0);
    let opened: { update(piece: Uint8Array): Uint8Array; end(): Uint8Array } | undefined;
    const open = () => {
      const head = headOf(begin);
      opened = head === undefined ? unchanged : startUnsealing(ring, head.id, 'object 1');
      return opened.update(begin.subarray(head?.end ?? 0));
    };
    for await (const piece of stored) {
      if (opened !== undefined) yield opened.update(piece);
      else begin = Buffer.concat([begin, piece]);
      if (opened === undefined && begin.byteLength >= longestHead) yield open();
    }
    if (opened === undefined) yield open();
    if (opened !== undefined) yield opened.end();
  }

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
      const head = headOf(found);
      return head === undefined ? found : unseal(ring, head.id, 'object 1', found.subarray(head.end));
    },

    ...(getStream && { getStream: (ref) => plainPieces(getStream(ref)) }),

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
