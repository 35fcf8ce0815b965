/** Shared parts of the commands that run a server: addresses, the ready line, the log, and the wait for a signal. */
import { isIP } from 'node:net';
import type { CliIo, OutputStream } from '../io.js';
import { jsonText } from '../output/json.js';
import { UsageError } from '../usage-error.js';

export interface Ready {
  /** Omitted for a worker, which does not listen. */
  readonly url?: string;
  /** One line for people. */
  readonly text: string;
}

/** Announces that the server is ready: one JSON line on stdout for programs, a sentence on stderr for people. */
export function sayReady(io: CliIo, { url, text }: Ready, options: { readonly readyJson?: boolean }): void {
  if (options.readyJson) io.stdout.write(`${jsonText({ ready: true, url })}\n`);
  else io.stderr.write(`${text}\n`);
}

/** Resolves at the first Ctrl-C or SIGTERM. */
export function interruption(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Reads `--port`; 0 lets the system choose. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port: "${text}" is not a port, from 0 to 65535.`);
}

/** Reads `host:port`. The host is an IP address; an IPv6 address is in brackets. */
export function parseAddress(option: string, text: string): { readonly host: string; readonly port: number } {
  const [, v6, v4, digits = ''] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? v4 ?? '';
  if (isIP(host) !== 0 && Number(digits) <= 65_535) return { host, port: Number(digits) };
  throw new UsageError(`${option}: "${text}" is not an address, like 127.0.0.1:9464.`);
}

export type LogLines = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** The log of a server: one JSON object per line. */
export function createLogLines(stream: OutputStream): LogLines {
  return (message, fields = {}) => {
    stream.write(`${jsonText({ at: new Date().toISOString(), message, ...fields })}\n`);
  };
}
