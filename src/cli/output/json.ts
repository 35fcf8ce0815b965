import type { OutputStream } from '../io.js';
import { escapeUnsafe } from './terminal-safe.js';

/** Control characters are escaped, which does not change the meaning of JSON. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value, null, indent));
}

/** Prints one JSON document: indented on a terminal, on one line elsewhere. */
export function printJson(stream: OutputStream, value: unknown): void {
  stream.write(`${jsonText(value, stream.isTTY ? 2 : undefined)}\n`);
}
