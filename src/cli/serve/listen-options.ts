/** Options that every server of the command line has. */
import { UsageError } from '../usage-error.js';

/** Reads `--port`; 0 lets the system choose. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port: "${text}" is not a port, from 0 to 65535.`);
}
