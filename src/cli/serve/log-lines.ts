/** The log of a server: one JSON object a line on stderr, for people and for machines. */
import type { OutputStream } from '../io.js';
import { jsonText } from '../output/json.js';

export type LogLines = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

export function createLogLines(stream: OutputStream): LogLines {
  return (message, fields = {}) => {
    stream.write(`${jsonText({ at: new Date().toISOString(), message, ...fields })}\n`);
  };
}
