/** One JSON document on stdout. */
import type { OutputStream } from '../io.js';

/** Indented on a terminal, one line in a pipe. */
export function printJson(stream: OutputStream, value: unknown): void {
  stream.write(`${JSON.stringify(value, null, stream.isTTY ? 2 : undefined)}\n`);
}
