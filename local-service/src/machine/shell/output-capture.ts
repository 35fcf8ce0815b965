/** Collects the output of a command up to a limit, and passes all of it on as text. No character is ever cut in two. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createByteCollector } from '../../../../src/texts/byte-collector.js';

/** How many bytes of each stream an outcome keeps. */
const maxOutputBytes = 8 * 1024 * 1024;

export interface OutputCapture {
  /** The number of pieces received so far. If it grows, there was new output. */
  readonly pieces: number;
  /** Returns the output so far. Later output is dropped. */
  finish(): string;
}

/** `onText` gets all output, including the part beyond the limit. */
export function captureOutput(stream: Readable, onText?: (text: string) => void): OutputCapture {
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
  // After a broken pipe, the command ends, and its exit code shows the failure.
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
