/** Handles answers that are bytes, as a stream or as a complete file. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { SandflowError } from '../errors/sandflow-error.js';
import type { PlainResponse, StreamOptions } from './call-options.js';

/** A download as a stream. */
export interface DownloadStream {
  /**
   * Read or destroy the stream: it holds a connection until then. It takes data from the connection only as fast as its
   * reader does. If the answer ends early, it fails with `ConnectionError` or `TimeoutError`.
   */
  readonly body: Readable;
  /** Size that the service announces; null if it announces none. */
  readonly sizeBytes: number | null;
  /** `application/gzip` for a folder as tar.gz; null if the service does not say. */
  readonly contentType: string | null;
}

/** Options of downloads to a file. */
export interface SaveOptions extends StreamOptions {
  /** Path of the file, mode 600. An existing file is replaced once the download is complete. */
  readonly to: string;
}

/** A download that was written to a file. */
export interface SavedDownload {
  /** Absolute. */
  readonly path: string;
  /** Size of the file in bytes. */
  readonly sizeBytes: number;
  /** In hex. */
  readonly sha256: string;
}

export function downloadStream({ body, header }: PlainResponse): DownloadStream {
  const length = header('content-length');
  return {
    body,
    sizeBytes: length !== undefined && /^\d+$/.test(length) ? Number(length) : null,
    contentType: header('content-type') ?? null,
  };
}

/**
 * Writes a download to a temporary file in the same folder and renames it once it is complete. A failure leaves nothing
 * behind. An answer shorter than its `content-length` always fails with `ConnectionError`.
 * @throws SandflowError `download_not_written`, and the error that ended the body
 */
export async function saveDownload(opened: Promise<PlainResponse>, options: SaveOptions): Promise<SavedDownload> {
  const path = resolve(options.to);
  const { body } = await opened;
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    const written = await drain(body, file);
    await rename(temporary, path);
    return { path, ...written };
  } catch (error) {
    body.destroy();
    await rm(temporary, { force: true });
    if (options.signal?.aborted) throw options.signal.reason;
    throw error instanceof SandflowError ? error : notWritten(path, error);
  }
}

function notWritten(path: string, cause: unknown): SandflowError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new SandflowError('download_not_written', `The download cannot be written to ${path} (${reason}).`, { cause });
}

async function drain(body: Readable, file: FileHandle): Promise<Omit<SavedDownload, 'path'>> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      await file.writeFile(chunk);
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}
