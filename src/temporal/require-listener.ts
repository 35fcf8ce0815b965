/**
 * Checks that something listens at the address of a Temporal server, and that its TLS fits. Without this check, the SDK
 * would wait for a server until its timeout and name no reason, and the worker's native part would name it in other words.
 */
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { connectionProblemOf } from '../errors/connection-problem.js';
import { splitTarget, type TemporalTarget } from './connect.js';
import { unreachable } from './errors.js';

const defaultWithinMs = 1_500;
const pauseMs = 250;
/** Shortest time for one connection, in ms. On a busy machine, a refusal can need longer than what is left of the whole time. */
const shortestLookMs = 1_000;
const defaultPort = 7233;

/** The messages for a refused connection. Any other failure may be temporary, so it is ignored. */
const refusals: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens at this address'],
  ['ENOTFOUND', 'the name of the host is unknown'],
]);

export interface RequireListenerOptions {
  /** How long to retry while the connection is refused, in ms. Default: 1500. */
  readonly withinMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Resolves if a connection opens, or if it is unclear whether one would open. Sends nothing but what TLS needs.
 * @throws SandflowError `temporal_unreachable` if the connection is refused for the whole time, or its TLS once
 */
export async function requireListener(target: TemporalTarget, options: RequireListenerOptions = {}): Promise<void> {
  const { withinMs = defaultWithinMs, signal } = options;
  const { address, connectionOptions } = splitTarget(target);
  const place = placeOf(address);
  if (!place) return;
  const open = opener(place, connectionOptions);
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const refusal = await refusalOf(open, giveUpAt - Date.now()).catch((error: Error) => error);
    if (refusal === undefined) return;
    if (connectionProblemOf(refusal) || Date.now() + pauseMs >= giveUpAt) throw unreachable(address, refusal);
    await sleep(pauseMs, undefined, { signal });
  }
}

/** Makes this check for the server that is configured. Does nothing if none is, or if a proxy leads to it. */
export async function requireTemporal(
  { temporal }: { readonly temporal: ConfiguredTemporal },
  options?: RequireListenerOptions,
): Promise<void> {
  if (temporal.configured && !temporal.proxy) await requireListener(temporal.connect, options);
}

interface ConfiguredTemporal {
  readonly configured: boolean;
  readonly connect: TemporalTarget;
  readonly proxy?: unknown;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

function placeOf(address: string): Place | undefined {
  const url = `tcp://${address}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) };
}

/** Opens the connection as the SDK does. */
function opener(place: Place, { tls, apiKey }: ReturnType<typeof splitTarget>['connectionOptions']): () => Socket {
  // With a key, the SDK uses TLS unless that is turned off.
  if (tls === false || (tls == null && apiKey === undefined)) return () => connect(place);
  const { serverNameOverride, serverRootCACertificate: ca, clientCertPair } = typeof tls === 'object' && tls ? tls : {};
  const servername = serverNameOverride ?? (isIP(place.host) ? undefined : place.host);
  return () =>
    connectTls({
      ...{ ...place, ALPNProtocols: ['h2'] },
      ...(servername && { servername }),
      ...(ca && { ca: Buffer.from(ca) }),
      ...(clientCertPair && { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
    });
}

/** @returns why no connection opens; undefined if one opens, or if that is unclear */
function refusalOf(open: () => Socket, withinMs: number): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const socket = open();
    const settle = (refusal?: Error) => {
      socket.destroy();
      resolve(refusal);
    };
    socket.setTimeout(Math.max(shortestLookMs, withinMs), () => settle());
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => settle());
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const text = refusals.get(codeOf(error));
      if (text !== undefined) settle(new Error(text));
      else settle(connectionProblemOf(error) === undefined ? undefined : error);
    });
  });
}

/** A host with several addresses fails with one error for all of them. */
function codeOf(error: NodeJS.ErrnoException): string {
  const errors = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [];
  return errors.find(({ code }) => code !== undefined)?.code ?? error.code ?? '';
}
