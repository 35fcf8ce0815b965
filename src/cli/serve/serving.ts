/** Shared parts of the commands that run a server: addresses, the ready line, the log, and the wait for a signal. */
import { isIP } from 'node:net';
import { SandflowError } from '../../errors/sandflow-error.js';
import { numberIn, stringIn, systemCodeOf } from '../error-fields.js';
import type { CliIo, OutputStream } from '../io.js';
import { jsonText } from '../output/json.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';

/**
 * Announces that the server is ready: one JSON line on stdout for programs, a sentence on stderr for people.
 * @param ready `url` is omitted for a worker, which does not listen; `text` is one line for people
 */
export function sayReady(
  io: CliIo,
  { url, text }: { readonly url?: string; readonly text: string },
  options: { readonly readyJson?: boolean },
): void {
  if (options.readyJson) io.stdout.write(`${jsonText({ ready: true, url })}\n`);
  else io.stderr.write(`${text}\n`);
}

/** Reads `--port`; 0 lets the system choose. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port: "${text}" is not a port, from 0 to 65535.`);
}

/** Reads `--drain`; 0 closes at once. */
export function parseDrainMs(text: string): number {
  return /^0m?s?$/.test(text) ? 0 : parseDurationMs(text, '--drain', ofThisProcess);
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** An address with the option that names it, such as `--metrics`. */
type AddressOfOption = Address & { readonly option: string };

/** Reads `host:port`. The host is an IP address; an IPv6 address is in brackets. */
export function parseAddress(option: string, text: string): Address {
  const [, v6, v4, digits = ''] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? v4 ?? '';
  if (isIP(host) !== 0 && Number(digits) <= 65_535) return { host, port: Number(digits) };
  throw new UsageError(`${option}: "${text}" is not an address, like 127.0.0.1:9464.`);
}

/**
 * Waits until a server listens.
 * @param own an address that comes from an option of its own, if there is one; all else comes from `--host` and `--port`
 * @throws SandflowError `port_in_use` and UsageError, which name the option that does not fit this machine
 */
export async function listened<T>(listening: Promise<T>, own?: AddressOfOption): Promise<T> {
  try {
    return await listening;
  } catch (error) {
    // The local service has its own error, with that of the system as its cause.
    throw refusedAddress(error instanceof SandflowError ? error.cause : error, own) ?? error;
  }
}

function refusedAddress(cause: unknown, own: AddressOfOption | undefined): SandflowError | undefined {
  const { host, port } = {
    host: stringIn(cause, 'address') ?? stringIn(cause, 'hostname'),
    port: numberIn(cause, 'port'),
  };
  if (!/^(?:listen|bind|getaddrinfo)$/.test(stringIn(cause, 'syscall') ?? '')) return undefined;
  const isOwn = own !== undefined && host === own.host && port === own.port;
  const option = (other: string) => (isOwn ? own.option : other);
  switch (systemCodeOf(cause)) {
    case 'EADDRINUSE': {
      const mend = 'Choose another, or stop the program that uses it.';
      return new SandflowError('port_in_use', `${option('--port')}: port ${port} is in use. ${mend}`, { cause });
    }
    case 'EACCES':
      return new UsageError(`${option('--port')}: you may not listen on port ${port}. Choose one from 1024 on.`, {
        cause,
      });
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError(`${option('--host')}: ${host} is not an address of this machine.`, { cause });
    default:
      return undefined;
  }
}

/** The log of a server: one JSON object per line. */
export function createLogLines(stream: OutputStream) {
  return (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    stream.write(`${jsonText({ at: new Date().toISOString(), message, ...fields })}\n`);
  };
}
