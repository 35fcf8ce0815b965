/**
 * The objects of a bucket below one prefix. A write is conditional: its request replaces only what was there when it began,
 * so that one which arrives late replaces nothing newer. Needs the package `@aws-sdk/client-s3`, which is loaded with
 * the first call. Endpoint, region, keys and the number of retries are the SDK's own settings.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { isDiskFull } from '../errors/disk-full.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { bucketAddressProblem, readBucketAddress } from '../texts/bucket-address.js';
import { createKnownTexts } from '../texts/known-texts.js';
import { bucketError, isAnswer, isBusy, isConflict, isMissing, isUnproved } from './bucket-errors.js';

/** In ms, each until the answer begins, and for a silence of the connection. The SDK has no limits of its own. */
const timeLimits = { connectionTimeout: 10_000, requestTimeout: 15_000, socketTimeout: 60_000 };
/** The same for a request that carries more than this, in bytes, at most one part, or that joins parts. */
const longRequestMs = 120_000;
const shortBytes = 1024 * 1024;
/** Each file on its way has one part in memory, so parts are as short as S3 takes them. In bytes. */
export const partBytes = 5 * 1024 * 1024;
/** An upload has at most 10,000 parts. After this many, they are longer, so that an object may have 180 GiB. */
const shortParts = 1_000;
const longPartBytes = 4 * partBytes;
/** As many connections as activities, and some. One that waits for a connection counts as one that cannot connect. */
const agent = { maxSockets: 256 };
/** How often an answer is read that breaks off, and how often a write is repeated because others wrote meanwhile. */
const mostReads = 3;
const mostWrites = 50;
/** The same for a write that is refused although the object is the same: it may have been another one for a moment. */
const mostRefusals = 5;
/** In ms, before a write is repeated that met another one of the same object. */
const busyPauseMs = 200;
/** How many keys of objects are remembered. */
const mostKnown = 10_000;

/** Content that can be read again for each write. */
export type Repeatable = Uint8Array | (() => AsyncIterable<Uint8Array>);

export interface WriteOptions {
  /** Names the content. Stored beside the object. */
  readonly tag: string;
  /**
   * Until it is aborted, its caller lives: the write replaces also what others stored after it began. Default: then it
   * fails.
   */
  readonly signal?: AbortSignal;
  /** The write is sent when this has resolved, and replaces only what was there before. Default: at once. */
  readonly after?: Promise<unknown>;
  /** Marks the object as a copy of one in another store, and replaces copies only. Default: false. */
  readonly copy?: boolean;
}

/** All methods throw SandflowError `store_refused`, `store_unreachable`; those that write also `disk_full`. */
export interface Bucket {
  /** @param checkSize throws if that many bytes must not be read */
  get(key: string, checkSize?: (bytes: number) => void): Promise<Buffer | null>;
  /** Reads an object piece by piece. */
  getStream(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  has(key: string): Promise<boolean>;
  /**
   * Safe to repeat.
   * @returns false if a copy was not stored, because the object is the same or is no copy
   * @throws SandflowError `store_unreachable` if somebody else stored another object after it began; see `signal`
   */
  put(key: string, content: Repeatable, options: WriteOptions): Promise<boolean>;
  /** Holds one part in memory. If `content` throws, stores nothing. Fails if somebody else stores the object meanwhile. */
  putStream(key: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** The keys that begin with `start`. */
  list(start: string): Promise<string[]>;
  listEach(start: string): AsyncIterable<{ key: string; writtenMs: number; size: number }>;
  /** Safe to repeat. @param writtenMs removes only what `listEach` has told to be written then. Default: anything */
  remove(key: string, writtenMs?: number): Promise<boolean>;
  /**
   * Writes an object, reads and removes it, and checks that the bucket honours each condition at each kind of write.
   * @param options.mayBeFull a full bucket is no error: jobs wait for space. Default: false
   */
  check(options?: { readonly mayBeFull?: boolean }): Promise<void>;
}

type Sdk = typeof import('@aws-sdk/client-s3');
type Condition = { readonly IfMatch: string } | { readonly IfNoneMatch: '*' };
interface Found {
  readonly condition: { readonly IfMatch: string };
  readonly tag: string | undefined;
  /** The write that stored it. */
  readonly by: string | undefined;
  readonly isCopy: boolean;
  readonly writtenMs: number;
}

/** A list may tell parts of a second, and HEAD does not. What has no time is not old. */
const msOf = (time: Date | undefined) => Math.floor((time?.getTime() ?? Number.POSITIVE_INFINITY) / 1_000) * 1_000;

const ifNew: Condition = { IfNoneMatch: '*' };
const ifOther: Condition = { IfMatch: `"${'0'.repeat(32)}"` };
const nothing = () => false;

/**
 * @param limits time limits of a request, in ms
 * @throws SandflowError `bad_configuration` for what is no address of a bucket
 */
export function openBucket(address: string, limits: Partial<typeof timeLimits> = {}): Bucket {
  const place = readBucketAddress(address);
  if (!place) throw new SandflowError('bad_configuration', `A store on S3 ${bucketAddressProblem(address)}.`);
  const { bucket } = place;
  const prefix = place.prefix === '' ? '' : `${place.prefix}/`;
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  let opened: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | undefined;
  let isThere = false;
  /** Objects that were there. To try a write of these as if they were new would cost a call more. */
  const known = createKnownTexts(mostKnown);

  /** Calls the SDK. Replaces its errors, except those that the caller handles. */
  async function ask<T>(call: (client: S3Client, sdk: Sdk) => Promise<T>, handles: (e: unknown) => boolean = nothing) {
    opened ??= loadSdk().then((sdk) => ({ sdk, client: connect(sdk, { ...timeLimits, ...limits }) }));
    const { sdk, client } = await opened;
    try {
      return await call(client, sdk);
    } catch (error) {
      throw handles(error) ? error : bucketError(error, address);
    }
  }

  const unfit = (what: string) => {
    const message = `The store ${address} ${what}. Use a server that honours If-Match and If-None-Match at writes, as Amazon S3 does.`;
    return new SandflowError('store_refused', message);
  };

  /** HEAD answers with a status only: 404 also for a missing bucket. This answers with a reason, or succeeds. */
  async function askForReason(abortSignal?: AbortSignal): Promise<void> {
    const listing = { Bucket: bucket, Prefix: prefix, MaxKeys: 1 };
    await ask((client, sdk) => client.send(new sdk.ListObjectsV2Command(listing), { abortSignal }));
  }

  async function find(key: string, abortSignal?: AbortSignal): Promise<Found | null> {
    try {
      const look = (client: S3Client, sdk: Sdk) => client.send(new sdk.HeadObjectCommand(at(key)), { abortSignal });
      const { ETag = '', Metadata, LastModified } = await ask(look, isAnswer);
      if (!ETag.startsWith('"')) throw unfit('does not say which object it has (it has no strong ETag)');
      const { tag, by, copy } = Metadata ?? {};
      known.add(key);
      return { condition: { IfMatch: ETag }, tag, by, isCopy: copy === 'true', writtenMs: msOf(LastModified) };
    } catch (error) {
      // With a body, an answer says by itself that there is no object.
      if (!isMissing(error) && !(isUnproved(error) && (await get(key)) === null)) {
        if (isAnswer(error)) await askForReason(abortSignal);
        throw bucketError(error, address);
      }
      if (!isThere) await askForReason(abortSignal);
      isThere = true;
      return null;
    }
  }

  /**
   * Sends what fits into one part as one request, and otherwise an upload of several.
   * @param write.inParts makes an upload of any content
   */
  async function send(
    key: string,
    parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    write: Pick<WriteOptions, 'tag' | 'copy' | 'signal'> & {
      readonly by: string;
      readonly condition: Condition;
      readonly inParts?: boolean;
    },
  ): Promise<void> {
    const { condition, tag, by, signal, copy, inParts } = write;
    const object = { ...at(key), Metadata: { tag, by, ...(copy && { copy: 'true' }) } };
    const sending = { abortSignal: signal };
    const sendingLong = { ...sending, requestTimeout: longRequestMs };
    const Parts: { PartNumber: number; ETag?: string; ChecksumCRC32?: string }[] = [];
    let upload: { readonly UploadId?: string } | undefined;
    let whole: Uint8Array = new Uint8Array();
    try {
      for await (const part of parts) {
        if (part.byteLength < partBytes && !upload && !inParts) {
          whole = part;
          break;
        }
        upload ??= await ask((client, sdk) => client.send(new sdk.CreateMultipartUploadCommand(object), sending));
        const { UploadId } = upload;
        const piece = { ...at(key), UploadId, PartNumber: Parts.length + 1, Body: part };
        const sent = await ask((client, sdk) => client.send(new sdk.UploadPartCommand(piece), sendingLong), isConflict);
        Parts.push({ PartNumber: piece.PartNumber, ETag: sent.ETag, ChecksumCRC32: sent.ChecksumCRC32 });
      }
      if (upload) {
        const all = { ...at(key), ...condition, UploadId: upload.UploadId, MultipartUpload: { Parts } };
        await ask((client, sdk) => client.send(new sdk.CompleteMultipartUploadCommand(all), sendingLong), isConflict);
      } else {
        const all = { ...object, ...condition, Body: whole };
        const limited = whole.byteLength > shortBytes ? sendingLong : sending;
        await ask((client, sdk) => client.send(new sdk.PutObjectCommand(all), limited), isConflict);
      }
    } catch (error) {
      // Its parts would be kept and paid for.
      const kept = { ...at(key), UploadId: upload?.UploadId };
      if (upload) await ask((client, sdk) => client.send(new sdk.AbortMultipartUploadCommand(kept))).catch(() => {});
      throw error;
    }
  }

  async function put(key: string, content: Repeatable, options: WriteOptions): Promise<boolean> {
    const { signal } = options;
    try {
      signal?.throwIfAborted();
      return await write(key, content, options);
    } catch (error) {
      // The SDK has an error of its own for it.
      signal?.throwIfAborted();
      throw error;
    }
  }

  async function write(key: string, content: Repeatable, options: WriteOptions): Promise<boolean> {
    const { tag, signal, copy = false, after } = options;
    const by = randomUUID();
    // Nobody may have to handle it before it is awaited.
    after?.catch(() => undefined);
    // A caller that lives may replace what it meets. Most of its objects are new, and then one call is enough.
    const isLikelyNew = signal !== undefined && after === undefined && !copy && !known.has(key);
    let found = isLikelyNew ? null : await find(key, signal);
    await after;
    for (let writes = 1; ; writes += 1) {
      if (copy && found && (found.tag === tag || !found.isCopy)) return false;
      signal?.throwIfAborted();
      const condition = found?.condition ?? ifNew;
      try {
        await send(key, partsOf(content), { tag, by, copy, signal, condition });
        known.add(key);
        return true;
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (isBusy(error)) await pause(busyPauseMs * (0.5 + Math.random()), undefined, { signal });
        const before = found;
        found = await find(key, signal);
        // The answer was lost, or somebody else stored the same.
        if (found?.by === by || (found?.tag === tag && !found.isCopy && !copy && !after)) return true;
        const isSame = found?.condition.IfMatch === before?.condition.IfMatch;
        const mayRepeat = isSame || copy || (signal !== undefined && after === undefined);
        const isRefused = isSame && !isBusy(error);
        if (!mayRepeat || writes >= (isRefused ? mostRefusals : mostWrites)) throw bucketError(error, address);
        if (isRefused) await pause(busyPauseMs * (0.5 + Math.random()), undefined, { signal });
      }
    }
  }

  async function remove(key: string, writtenMs?: number): Promise<boolean> {
    const found = writtenMs === undefined ? undefined : await find(key);
    if (found?.writtenMs !== writtenMs) return false;
    const removal = { ...at(key), ...found?.condition };
    const isDone = found ? isConflict : isMissing;
    const removing = ask((client, sdk) => client.send(new sdk.DeleteObjectCommand(removal)), isDone);
    return removing.then(Boolean, (error) => (isDone(error) ? false : Promise.reject(error)));
  }

  async function* listEach(start: string) {
    const listing = { Bucket: bucket, Prefix: prefix + start };
    let ContinuationToken: string | undefined;
    do {
      const from = { ...listing, ContinuationToken };
      const page = await ask((client, sdk) => client.send(new sdk.ListObjectsV2Command(from)));
      for (const { Key = '', Size: size = 0, LastModified } of page.Contents ?? [])
        yield { key: Key.slice(prefix.length), size, writtenMs: msOf(LastModified) };
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      if (page.IsTruncated && !ContinuationToken) throw unfit('ends its list in the middle');
    } while (ContinuationToken !== undefined);
  }

  /** @returns an answer without a body if there is no such object */
  async function open(key: string): Promise<Partial<GetObjectCommandOutput>> {
    try {
      return await ask((client, sdk) => client.send(new sdk.GetObjectCommand(at(key))), isMissing);
    } catch (error) {
      if (isMissing(error)) return {};
      throw error;
    }
  }

  async function get(key: string, checkSize?: (bytes: number) => void): Promise<Buffer | null> {
    for (let reads = 1; ; reads += 1) {
      const { Body, ContentLength = 0 } = await open(key);
      if (!Body) return null;
      known.add(key);
      try {
        checkSize?.(ContentLength);
        const { buffer, byteOffset, byteLength } = await Body.transformToByteArray();
        return Buffer.from(buffer, byteOffset, byteLength);
      } catch (error) {
        (Body as Readable).destroy();
        // The SDK repeats a call, and not the rest of its answer.
        if (error instanceof SandflowError || reads === mostReads) throw bucketError(error, address);
      }
    }
  }

  async function getStream(key: string): Promise<AsyncIterable<Uint8Array> | null> {
    const { Body } = await open(key);
    return Body ? named(Body as Readable) : null;
  }

  async function* named(body: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw bucketError(error, address);
    }
  }

  /** @returns false if the server says that the condition is not met */
  async function isSent(key: string, condition: Condition, inParts: boolean): Promise<boolean> {
    try {
      await send(key, [Buffer.from(`${key} ${inParts}`)], { tag: key, by: key, condition, inParts });
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  async function requireConditions(key: string): Promise<void> {
    for (const inParts of [false, true]) {
      const found = await find(key);
      if (!found || !(await isSent(key, found.condition, inParts)))
        throw unfit(`does not replace what it was told to replace${inParts ? ' by an upload in parts' : ''}`);
      if ((await get(key))?.toString() !== `${key} ${inParts}`) throw unfit('does not keep what is written');
      for (const condition of [ifNew, ifOther])
        if (await isSent(key, condition, inParts)) throw unfit('replaces objects that it was told not to replace');
    }
  }

  return {
    get,
    getStream,
    put,
    remove,
    listEach,

    has: async (key) => (await find(key)) !== null,

    async putStream(key, content) {
      const by = randomUUID();
      const condition = (await find(key))?.condition ?? ifNew;
      try {
        await send(key, joined(content), { tag: by, by, condition });
      } catch (error) {
        if (!isConflict(error)) throw error;
        // The answer may have been lost.
        if ((await find(key))?.by !== by) throw bucketError(error, address);
      }
    },

    async list(start) {
      const keys: string[] = [];
      for await (const { key } of listEach(start)) keys.push(key);
      return keys;
    },

    async check({ mayBeFull = false } = {}) {
      const tag = randomUUID();
      const key = `.${tag}.tmp`;
      try {
        await put(key, Buffer.from(tag), { tag });
        await requireConditions(key);
      } catch (error) {
        // Such a probe may have been stored all the same.
        await remove(key).catch(() => undefined);
        if (mayBeFull && isDiskFull(error)) return;
        throw error;
      }
      await remove(key);
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

function connect({ S3Client }: Sdk, limits: typeof timeLimits): S3Client {
  return new S3Client({
    // Servers other than Amazon's rarely have a host name for each bucket.
    forcePathStyle: true,
    // A proxy that does not answer 100 would delay each part until its connection has been silent for too long.
    expectContinueHeader: false,
    requestHandler: { ...limits, throwOnRequestTimeout: true, httpAgent: agent, httpsAgent: agent },
  });
}

function* cut(content: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from === 0 || from < content.byteLength; from += partBytes) {
    yield content.subarray(from, from + partBytes);
  }
}

const partsOf = (content: Repeatable) => (content instanceof Uint8Array ? cut(content) : joined(content()));

/**
 * Joins pieces to parts; only the last is shorter. Each is in the same memory: it is valid until the next is asked for.
 */
async function* joined(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let part = Buffer.allocUnsafeSlow(partBytes);
  let length = 0;
  let parts = 0;
  for await (const piece of content) {
    for (let from = 0; from < piece.byteLength; ) {
      const taken = piece.subarray(from, from + part.byteLength - length);
      part.set(taken, length);
      length += taken.byteLength;
      from += taken.byteLength;
      if (length < part.byteLength) continue;
      yield part;
      length = 0;
      parts += 1;
      if (parts === shortParts) part = Buffer.allocUnsafeSlow(longPartBytes);
    }
  }
  if (length > 0) yield part.subarray(0, length);
}
