/** A store for outputs that are too large for history: one idempotent object per job (or item) and generation. */

export interface StoredObject {
  /** Names the object in its store; opaque to everyone else. */
  readonly ref: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
}

/** An object as a list of them shows it. */
export interface ListedObject {
  /** The key that the object was stored under. */
  readonly key: string;
  /** Names the object in its store; opaque to callers. */
  readonly ref: string;
}

/** A store for objects that are too large for Temporal's history. */
export interface ResultStore {
  /** Writes `content` under `key`. Safe to repeat: the last whole write wins, and no reader sees half of one. */
  put(key: string, content: Uint8Array): Promise<StoredObject>;
  /**
   * The same with content of any size that comes piece by piece, never all of it in memory. Where `content` throws,
   * nothing of it is left, and the error is passed on.
   */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<StoredObject>;
  /** @throws SandflowError `result_not_found` */
  get(ref: string): Promise<Buffer>;
  /** The objects whose keys begin with `folder` and a slash, in no order. None where there is no such folder. */
  list(folder: string): Promise<readonly ListedObject[]>;
}
