/** Connects to Temporal as a client. Used by the command line and the supervisor. */

import { Client, type ClientOptions } from '@temporalio/client';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { SandflowError } from '../errors/sandflow-error.js';
import { usableTemporalSettings } from '../secrecy/temporal-secrets.js';
import { readProxies } from '../settings/environment.js';
import { tunnelTo } from '../settings/proxies.js';
import { requireOptions } from '../settings/required-options.js';
import { temporalAddressProblem } from '../texts/urls.js';
import { type ClosableConnectionOptions, connectClosably } from './closable-connection.js';
import { unreachable } from './errors.js';

const connectTimeoutMs = 10_000;

/**
 * A Temporal server: either the server that the environment configures (`config.temporal.connect`), or a plain address.
 */
export type TemporalTarget = ClientConnectConfig | { readonly address: string; readonly namespace?: string };

/** Options of `connectTemporal`. */
export interface ConnectTemporalOptions {
  /** How long to wait for the server, in ms. Default: 10000. */
  readonly timeoutMs?: number;
  /** Codec and converters of payloads. The worker must use the same ones. */
  readonly dataConverter?: ClientOptions['dataConverter'];
  /** The identity that Temporal records for this client. Default: the SDK's. */
  readonly identity?: string;
}

/**
 * Connects, and checks that the server answers. The caller closes `client.connection`.
 * @throws SandflowError `temporal_unreachable`, which names the address and what to do; `bad_argument` for an address
 * that is not `host:port`; `bad_configuration` for a proxy that cannot lead to it
 * @example
 * const client = await connectTemporal({ address: 'temporal.example.com:7233', namespace: 'default' });
 * await client.connection.close();
 */
export async function connectTemporal(
  target: TemporalTarget,
  options: ConnectTemporalOptions & ClosableConnectionOptions = {},
): Promise<Client> {
  const { timeoutMs = connectTimeoutMs, dataConverter, identity, isRepeated } = options;
  const { connectionOptions, namespace, address } = splitTarget(target);
  // The library of gRPC finds the proxy by itself, but it knows neither `*` nor a port in NO_PROXY.
  const proxy = tunnelTo(address, readProxies());
  const channelArgs = proxy ? {} : { 'grpc.enable_http_proxy': 0 };
  try {
    const asked = { ...connectionOptions, channelArgs, connectTimeout: timeoutMs };
    const connection = await connectClosably(asked, { isRepeated });
    return new Client({ connection, namespace, dataConverter, identity });
  } catch (cause) {
    throw unreachable(address, cause, proxy);
  }
}

/**
 * Splits a target into the values that client and worker connections need. They include the metadata, key and TLS
 * settings of the environment.
 * @throws SandflowError `bad_argument` for an address that is not `host:port`; `bad_api_key`, `bad_configuration` for a
 * header that cannot be sent
 */
export function splitTarget(target: TemporalTarget) {
  requireOptions({ target }, { target: 'an object' });
  if (!('connectionOptions' in target)) requireOptions(target, { address: 'a text' });
  const namespace = target.namespace ?? 'default';
  const settings = 'connectionOptions' in target ? target.connectionOptions : { address: target.address };
  const { address = '127.0.0.1:7233', tls, apiKey, metadata } = usableTemporalSettings(settings);
  const problem = temporalAddressProblem(address);
  if (problem) throw new SandflowError('bad_argument', `address ${problem}.`);
  return { connectionOptions: { address, tls, apiKey, metadata }, namespace, address };
}
