/** What a result store is. `directory-store.ts` and `s3-store.ts` are two; users may bring their own. Types only. */

/** What `put` answers: where the store holds an object, and what it holds. */
export interface StoredObject {
  /** Identifies the object in its store. Other code must not interpret it. */
  readonly ref: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
}

/** An object as `list` returns it. */
export interface ListedObject {
  /** The key that the object was stored under. */
  readonly key: string;
  /** Identifies the object in its store. Callers must not interpret it. */
  readonly ref: string;
}

/** An object as `listEach` yields it. */
export interface DatedObject extends ListedObject {
  /** When it was last written, in ms since the epoch. */
  readonly writtenMs: number;
  /** Size in bytes, as the store keeps it. */
  readonly size: number;
}

/** A store for objects that are too large for Temporal's history. */
export interface ResultStore {
  /**
   * Writes `content` under `key`. Safe to repeat: the last complete write wins, and no reader sees half a write.
   * @param options.signal once it is aborted, the write replaces nothing any more: its caller has given it up, and may
   * have stored something newer. Default: none. Then a store may fail if somebody else stores the object meanwhile
   */
  put(key: string, content: Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<StoredObject>;
  /**
   * Writes content of any size piece by piece, so that it is never in memory as a whole. If `content` throws, nothing
   * is stored, and the error is thrown again. A store may fail if somebody else stores the object meanwhile.
   */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<StoredObject>;
  /**
   * @param options.maxBytes a longer object is not read; no limit by default. A store may ignore this if it does not
   * know the size of an object before reading it
   * @throws SandflowError `result_not_found`, `result_too_large`
   */
  get(ref: string, options?: { readonly maxBytes?: number }): Promise<Buffer>;
  /**
   * Reads an object of any size piece by piece. Its content is genuine only if the reader comes to its end. Throws as
   * `get`. Omitted: a large object is read as a whole.
   */
  getStream?(ref: string): AsyncIterable<Uint8Array>;
  /** The reference of the object that was stored under `key`; null if there is none. */
  find(key: string): Promise<string | null>;
  /**
   * Lists the objects whose keys begin with `folder` and a slash, in no particular order. The list is empty if there is
   * no such folder. An empty `folder` lists all objects.
   */
  list(folder: string): Promise<readonly ListedObject[]>;
  /**
   * A worker calls this at its start, so that a store that it cannot write to is not found only when a job has results.
   * Omitted: the worker starts without a check.
   * @throws SandflowError `result_store_unwritable`, or `store_refused`, `store_unreachable` for a bucket
   */
  checkWritable?(): Promise<void>;
  /**
   * Yields the objects whose keys begin with `start`, those of a folder one after another. Omitted, as `remove` may be:
   * nothing is ever removed from the store.
   */
  listEach?(start: string): AsyncIterable<DatedObject>;
  /**
   * Removes an object that `listEach` has yielded. Safe to repeat.
   * @returns false if it was written since, or is no longer there
   */
  remove?(object: DatedObject): Promise<boolean>;
}

/** A store that can be copied into another one. */
export interface CopiedStore extends ResultStore {
  getStream(ref: string): AsyncIterable<Uint8Array>;
}
