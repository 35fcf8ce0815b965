/**
 * Opens files and folders of disks and snapshots for sending. When the host ends, it ends the streams that are still
 * open.
 */
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { MachineError } from '../machine-error.js';
import { streamFile } from './file-stream.js';
import { streamFolder } from './folder-stream.js';
import { type OpenPlace, openPlace } from './walk.js';

/**
 * The caller must read or destroy the stream. If the source could not be read completely, the stream fails instead of
 * ending. A file is sent unchanged, with exactly `sizeBytes` bytes. A folder is sent as a gzipped tar, with names
 * relative to it.
 */
export type Download =
  | { readonly kind: 'file'; readonly sizeBytes: number; readonly stream: Readable }
  | { readonly kind: 'folder'; readonly stream: Readable };

interface DownloadRequest {
  /** The directory of the disk or the snapshot. */
  readonly root: string;
  readonly path: string;
  /** True for the disk of a sandbox, which may change its files while they are sent. A snapshot never changes. */
  readonly mayChange: boolean;
}

export function createDownloads() {
  const sending = new Map<Readable, Promise<void>>();
  let closed = false;

  const watch = (stream: Readable): void => {
    // This also handles a failure before anybody listens. Without a handler, it would end the service.
    const ended = finished(stream)
      .catch(() => undefined)
      .then(() => void sending.delete(stream));
    sending.set(stream, ended);
    if (closed) stream.destroy(closing());
  };

  return {
    /** @throws MachineError as `MachineHost.download` */
    async open(request: DownloadRequest) {
      if (closed) throw closing();
      const place = await openPlace(request.root, request.path);
      const download = place.kind === 'file' ? await sendFile(place, request.path) : await sendFolder(place, request);
      watch(download.stream);
      return download;
    },
    /** Makes all open streams fail and refuses new ones. */
    async close() {
      closed = true;
      for (const stream of sending.keys()) stream.destroy(closing());
      await Promise.all(sending.values());
    },
  };
}

async function sendFile({ handle }: OpenPlace & { kind: 'file' }, path: string): Promise<Download> {
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new MachineError('not_a_file', `${path} is neither a file nor a folder.`);
    return { kind: 'file', sizeBytes: stats.size, stream: streamFile(handle, stats.size) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function sendFolder({ folder }: OpenPlace & { kind: 'folder' }, request: DownloadRequest): Promise<Download> {
  try {
    const before = await identityOf(request.root);
    // If a disk is removed or replaced, `tar` reports only that its files vanish one by one. So the identity of the
    // disk is compared.
    const mayHaveChanged = async () => request.mayChange && (await identityOf(request.root)) === before;
    return { kind: 'folder', stream: await streamFolder(folder, { mayHaveChanged }) };
  } finally {
    await folder.handle.close();
  }
}

async function identityOf(directory: string): Promise<string | undefined> {
  return await stat(directory, { bigint: true }).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => undefined,
  );
}

function closing(): MachineError {
  return new MachineError('closed', 'The service is shutting down and sends no more files.');
}
