/**
 * Checks that something listens at the address of a Temporal server. Without this check, the SDK would wait for a
 * server until its timeout, and the worker's native part would report a refused connection in other words.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
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
 * Resolves if a connection opens, or if it is unclear whether one would open. Sends nothing.
 * @throws SandflowError `temporal_unreachable` if the connection is refused for the whole time
 */
export async function requireListener(target: TemporalTarget, options: RequireListenerOptions = {}): Promise<void> {
  const { withinMs = defaultWithinMs, signal } = options;
  const { address } = splitTarget(target);
  const place = placeOf(address);
  if (!place) return;
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const refusal = await refusalOf(place, giveUpAt - Date.now());
    if (refusal === undefined) return;
    if (Date.now() + pauseMs >= giveUpAt) throw unreachable(address, new Error(refusal));
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

function refusalOf(place: Place, withinMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(place);
    const settle = (refusal?: string) => {
      socket.destroy();
      resolve(refusal);
    };
    socket.setTimeout(Math.max(shortestLookMs, withinMs), () => settle());
    socket.once('connect', () => settle());
    socket.once('error', (error: NodeJS.ErrnoException) => settle(refusals.get(codeOf(error))));
  });
}

/** A host with several addresses fails with one error for all of them. */
function codeOf(error: NodeJS.ErrnoException): string {
  const errors = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [];
  return errors.find(({ code }) => code !== undefined)?.code ?? error.code ?? '';
}
