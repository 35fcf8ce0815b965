/** Formats and prints JSON. */
import type { OutputStream } from '../io.js';
import { pickFields } from './picked-fields.js';
import { escapeUnsafe } from './terminal-safe.js';

/** Control characters are escaped, which does not change the meaning of JSON. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value, null, indent));
}

/** Prints one JSON document, or the fields of it that the user chose: indented on a terminal, on one line elsewhere. */
export function printJson(stream: OutputStream, value: unknown): void {
  stream.write(`${jsonText(chosen(stream, value), stream.isTTY ? 2 : undefined)}\n`);
}

/** One JSON document, or the fields of it that the user chose, as one line without its end. */
export function jsonLine(stream: OutputStream, value: unknown): string {
  return jsonText(chosen(stream, value));
}

function chosen({ fields }: OutputStream, value: unknown): unknown {
  // Fields are those of the JSON text: a `Date`, for example, is a string.
  return fields ? pickFields(JSON.parse(JSON.stringify(value)), fields) : value;
}
