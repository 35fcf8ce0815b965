/** Sends as many bytes of a file as it had when it was opened. If the file has become shorter, the stream fails. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { MachineError } from '../machine-error.js';

const pieceBytes = 64 * 1024;

/** Closes the file when the stream ends, fails or is destroyed. */
export function streamFile(handle: FileHandle, sizeBytes: number): Readable {
  let position = 0;
  const readPiece = async (): Promise<Buffer | null> => {
    // Bytes appended after the opening are left out, because the size was already sent.
    const wanted = Math.min(pieceBytes, sizeBytes - position);
    if (wanted === 0) return null;
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, position);
    position += bytesRead;
    if (bytesRead > 0) return buffer.subarray(0, bytesRead);
    throw new MachineError('download_failed', 'The file was truncated while it was being sent. Request it again.');
  };
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      readPiece().then(
        (piece) => this.push(piece),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (closeError: Error) => done(error ?? closeError),
      );
    },
  });
}
