import type { Download } from '../machine/machine-host.js';
import type { RawAnswer } from './operation.js';

/** The bytes of a file as they are, of a folder as tar.gz (assumptions, "Envelopes"). */
export function rawAnswer(download: Download): RawAnswer {
  const { stream } = download;
  if (download.kind === 'folder') return { stream, contentType: 'application/gzip' };
  return { stream, sizeBytes: download.sizeBytes, contentType: 'application/octet-stream' };
}
