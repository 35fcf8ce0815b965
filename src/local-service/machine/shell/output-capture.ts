/** Collects what a command prints: bounded, and passed on as text whose characters are never cut in two. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createByteCollector } from '../../../contract/byte-collector.js';

/** How much of each stream an outcome keeps. */
const maxOutputBytes = 8 * 1024 * 1024;

export interface OutputCapture {
  /** Grows with each piece, to detect new output. */
  readonly pieces: number;
  /** What was printed so far. Later output is dropped. */
  finish(): string;
}

/** `onText` gets everything, also what is past the limit. */
export function captureOutput(stream: Readable, onText: ((text: string) => void) | undefined): OutputCapture {
  const decoder = new StringDecoder('utf8');
  const kept = createByteCollector();
  let [droppedBytes, pieces, finished] = [0, 0, false];
  const pass = (text: string): void => {
    if (text !== '') onText?.(text);
  };
  stream.on('data', (chunk: Buffer) => {
    if (finished) return;
    pieces += 1;
    const fits = chunk.subarray(0, maxOutputBytes - kept.size);
    kept.add(fits);
    droppedBytes += chunk.length - fits.length;
    pass(decoder.write(chunk));
  });
  // After a broken pipe the command ends, and its exit code says so.
  stream.on('error', () => undefined);
  return {
    get pieces() {
      return pieces;
    },
    finish() {
      finished = true;
      pass(decoder.end());
      const bytes = Buffer.from(kept.bytes().buffer);
      if (droppedBytes === 0) return bytes.toString('utf8');
      return `${new StringDecoder('utf8').write(bytes)}\n[truncated: ${droppedBytes} more bytes]\n`;
    },
  };
}
