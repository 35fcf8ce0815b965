/** One JSON document on stdout. */
import type { OutputStream } from '../io.js';
import { escapeUnsafe } from './terminal-safe.js';

/** Control characters are escaped, which does not change the meaning of JSON. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value, null, indent));
}

/** Indented on a terminal, one line in a pipe. */
export function printJson(stream: OutputStream, value: unknown): void {
  stream.write(`${jsonText(value, stream.isTTY ? 2 : undefined)}\n`);
}
