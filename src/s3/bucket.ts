/**
 * The objects of a bucket below one prefix. A write is conditional: it replaces only what was there when it began, so
 * that a request which arrives late replaces nothing newer. Needs the package `@aws-sdk/client-s3`, which is loaded with
 * the first call. Endpoint, region, keys and the number of retries are the SDK's own settings.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { SandflowError } from '../errors/sandflow-error.js';
import { bucketAddressProblem, readBucketAddress } from '../texts/bucket-address.js';
import { bucketError, isConflict, isMissing } from './bucket-errors.js';

/** In ms. The SDK has no limits of its own. A request carries at most one part. */
const timeLimits = { connectionTimeout: 10_000, requestTimeout: 120_000, socketTimeout: 60_000 };
/** An upload has at most 10,000 parts, so an object at most 156 GiB. In bytes. */
const partBytes = 16 * 1024 * 1024;
/** How often an answer is read that breaks off, and how often a write is repeated because others wrote meanwhile. */
const mostReads = 3;
const mostWrites = 50;

export interface WriteOptions {
  /** Stored beside the object: a write whose answer was lost is known by it. */
  readonly tag: string;
  /** Once it is aborted, the write is not repeated. */
  readonly signal?: AbortSignal;
  /** Marks the object as a copy of one in another store, and replaces copies only. Default: false. */
  readonly copy?: boolean;
}

/** All methods throw SandflowError `store_refused`, `store_unreachable`; those that write also `disk_full`. */
export interface Bucket {
  /** @param checkSize throws if that many bytes must not be read */
  get(key: string, checkSize?: (bytes: number) => void): Promise<Buffer | null>;
  has(key: string): Promise<boolean>;
  /**
   * Safe to repeat: the last write wins.
   * @returns false if a copy was not stored, because the object is the same or is no copy
   */
  put(key: string, content: Uint8Array, options: WriteOptions): Promise<boolean>;
  /** Holds one part in memory. If `content` throws, stores nothing. Fails if somebody else stores the object meanwhile. */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** The keys that begin with `start`. */
  list(start: string): Promise<string[]>;
  /** Safe to repeat. */
  remove(key: string): Promise<void>;
  /** Writes an object, reads and removes it, and checks that the bucket honours conditions. */
  check(): Promise<void>;
}

type Sdk = typeof import('@aws-sdk/client-s3');
type Condition = { readonly IfMatch: string } | { readonly IfNoneMatch: '*' };
interface Found {
  readonly condition: Condition;
  readonly tag: string | undefined;
  readonly isCopy: boolean;
}

const ifNew: Condition = { IfNoneMatch: '*' };

/** @throws SandflowError `bad_configuration` for what is no address of a bucket */
export function openBucket(address: string): Bucket {
  const place = readBucketAddress(address);
  if (!place) throw new SandflowError('bad_configuration', `A store on S3 ${bucketAddressProblem(address)}.`);
  const prefix = place.prefix === '' ? '' : `${place.prefix}/`;
  const at = (key: string) => ({ Bucket: place.bucket, Key: prefix + key });
  let opened: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | undefined;

  /** Calls the SDK. Leaves what is missing and what conflicts to the caller, and replaces the other errors. */
  async function ask<T>(call: (client: S3Client, sdk: Sdk) => Promise<T>): Promise<T> {
    opened ??= loadSdk().then((sdk) => ({ sdk, client: connect(sdk) }));
    const { sdk, client } = await opened;
    try {
      return await call(client, sdk);
    } catch (error) {
      throw isConflict(error) ? error : bucketError(error, address);
    }
  }

  async function find(key: string): Promise<Found | null> {
    try {
      const { ETag = '', Metadata } = await ask((client, sdk) => client.send(new sdk.HeadObjectCommand(at(key))));
      return { condition: { IfMatch: ETag }, tag: Metadata?.tag, isCopy: Metadata?.copy === 'true' };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Writes what fits into one part, and otherwise an upload of several. */
  async function write(
    key: string,
    parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { condition, tag, signal, copy }: WriteOptions & { readonly condition: Condition },
  ): Promise<void> {
    const object = { ...at(key), Metadata: { tag, ...(copy && { copy: 'true' }) } };
    const sending = { abortSignal: signal };
    const Parts: { PartNumber: number; ETag?: string; ChecksumCRC32?: string }[] = [];
    let upload: { readonly UploadId?: string } | undefined;
    const send = async (Body: Uint8Array) => {
      const part = { ...at(key), UploadId: upload?.UploadId, PartNumber: Parts.length + 1, Body };
      const sent = await ask((client, sdk) => client.send(new sdk.UploadPartCommand(part), sending));
      Parts.push({ PartNumber: part.PartNumber, ETag: sent.ETag, ChecksumCRC32: sent.ChecksumCRC32 });
    };
    let last: Uint8Array = new Uint8Array();
    try {
      for await (const part of parts) {
        if (last.byteLength > 0) {
          upload ??= await ask((client, sdk) => client.send(new sdk.CreateMultipartUploadCommand(object), sending));
          await send(last);
        }
        last = part;
      }
      if (!upload) {
        const whole = { ...object, ...condition, Body: last };
        await ask((client, sdk) => client.send(new sdk.PutObjectCommand(whole), sending));
        return;
      }
      await send(last);
      const all = { ...at(key), ...condition, UploadId: upload.UploadId, MultipartUpload: { Parts } };
      await ask((client, sdk) => client.send(new sdk.CompleteMultipartUploadCommand(all), sending));
    } catch (error) {
      // Its parts would be kept and paid for.
      const kept = { ...at(key), UploadId: upload?.UploadId };
      if (upload) await ask((client, sdk) => client.send(new sdk.AbortMultipartUploadCommand(kept))).catch(() => {});
      throw error;
    }
  }

  async function put(key: string, content: Uint8Array, options: WriteOptions): Promise<boolean> {
    const { tag, signal, copy = false } = options;
    // Most objects are new, so that a question before would be one too many.
    let found = copy ? await find(key) : null;
    for (let writes = 1; ; writes += 1) {
      if (found?.tag === tag) return !copy;
      if (copy && found && !found.isCopy) return false;
      signal?.throwIfAborted();
      try {
        await write(key, cut(content), { ...options, condition: found?.condition ?? ifNew });
        return true;
      } catch (error) {
        signal?.throwIfAborted();
        if (!isConflict(error)) throw error;
        if (writes === mostWrites) throw bucketError(error, address);
      }
      found = await find(key);
    }
  }

  async function remove(key: string): Promise<void> {
    await ask((client, sdk) => client.send(new sdk.DeleteObjectCommand(at(key))));
  }

  async function get(key: string, checkSize?: (bytes: number) => void): Promise<Buffer | null> {
    for (let read = 1; ; read += 1) {
      try {
        const { Body, ContentLength = 0 } = await ask((client, sdk) => client.send(new sdk.GetObjectCommand(at(key))));
        if (!Body) return null;
        try {
          checkSize?.(ContentLength);
          return Buffer.from(await Body.transformToByteArray());
        } catch (error) {
          (Body as Readable).destroy();
          // The SDK repeats a call, and not the rest of its answer.
          if (error instanceof SandflowError || read === mostReads) throw bucketError(error, address);
        }
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    }
  }

  return {
    get,
    put,
    remove,

    has: async (key) => (await find(key)) !== null,

    async putStream(key, content) {
      const tag = randomUUID();
      const condition = (await find(key))?.condition ?? ifNew;
      try {
        await write(key, joined(content), { tag, condition });
      } catch (error) {
        if (!isConflict(error)) throw error;
        // The answer may have been lost.
        if ((await find(key))?.tag !== tag) throw bucketError(error, address);
      }
    },

    async list(start) {
      const listing = { Bucket: place.bucket, Prefix: prefix + start };
      const keys: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const from = { ...listing, ContinuationToken };
        const page = await ask((client, sdk) => client.send(new sdk.ListObjectsV2Command(from)));
        for (const { Key = '' } of page.Contents ?? []) keys.push(Key.slice(prefix.length));
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken !== undefined);
      return keys;
    },

    async check() {
      const tag = randomUUID();
      const key = `.${tag}.tmp`;
      await put(key, Buffer.from(tag), { tag });
      const isKept = (await get(key))?.toString() === tag;
      const isConditional = await write(key, [Buffer.from('again')], { tag, condition: ifNew }).then(
        () => false,
        (error: unknown) => isConflict(error),
      );
      await remove(key);
      if (isKept && isConditional) return;
      const what = isKept ? 'replaces objects that it was told not to replace' : 'does not keep what is written';
      const message = `The store ${address} ${what}. Use a server that honours If-Match and If-None-Match at writes, as Amazon S3 does.`;
      throw new SandflowError('store_refused', message);
    },
  };
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    const message =
      'A store on S3 needs the package @aws-sdk/client-s3. Install it beside sandflow: `npm install @aws-sdk/client-s3`.';
    throw new SandflowError('bad_configuration', message, { cause });
  }
}

function connect({ S3Client }: Sdk): S3Client {
  return new S3Client({
    // Servers other than Amazon's rarely have a host name for each bucket.
    forcePathStyle: true,
    requestHandler: { ...timeLimits, throwOnRequestTimeout: true },
  });
}

function* cut(content: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from === 0 || from < content.byteLength; from += partBytes) {
    yield content.subarray(from, from + partBytes);
  }
}

/** Joins pieces to parts of the same length; only the last is shorter. */
async function* joined(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    for (let from = 0; from < piece.byteLength; ) {
      const taken = piece.subarray(from, from + partBytes - length);
      pieces.push(taken);
      length += taken.byteLength;
      from += taken.byteLength;
      if (length < partBytes) continue;
      yield Buffer.concat(pieces);
      [pieces, length] = [[], 0];
    }
  }
  if (length > 0) yield Buffer.concat(pieces);
}
