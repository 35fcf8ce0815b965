/** Options that every server of the command line has. */
import { isIP } from 'node:net';
import { UsageError } from '../usage-error.js';

/** Reads `--port`; 0 lets the system choose. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port: "${text}" is not a port, from 0 to 65535.`);
}

/** Reads `host:port`, where host is an IP address; IPv6 in brackets. */
export function parseAddress(option: string, text: string): { readonly host: string; readonly port: number } {
  const [, v6, v4, digits = ''] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? v4 ?? '';
  if (isIP(host) !== 0 && Number(digits) <= 65_535) return { host, port: Number(digits) };
  throw new UsageError(`${option}: "${text}" is not an address, like 127.0.0.1:9464.`);
}
