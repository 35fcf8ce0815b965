/** Connects to Temporal as a client. Used by the command line and the supervisor. */
import {
  Client,
  type ClientOptions,
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { SandflowError } from '../errors/sandflow-error.js';
import { usableTemporalSettings } from '../secrecy/temporal-secrets.js';
import { readProxies } from '../settings/environment.js';
import { tunnelTo } from '../settings/proxies.js';
import { requireOptions } from '../settings/required-options.js';
import { temporalAddressProblem } from '../texts/urls.js';
import { unreachable } from './errors.js';

const connectTimeoutMs = 10_000;

/**
 * A Temporal server: either the server that the environment configures (`config.temporal.connect`), or a plain address.
 */
export type TemporalTarget = ClientConnectConfig | { readonly address: string; readonly namespace?: string };

/** What Temporal's `Client` takes beside the connection. The worker must have the same `dataConverter`. */
export type OwnClientOptions = Omit<ClientOptions, 'connection' | 'namespace'>;

/** Options of `connectTemporal`. `plugins` are also those of the connection. */
export interface ConnectTemporalOptions extends OwnClientOptions {
  /** How long to wait for the server, in ms. Default: 10000. */
  readonly timeoutMs?: number;
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
  const { timeoutMs = connectTimeoutMs, isRepeated, plugins, ...ofClient } = options;
  const { connectionOptions, namespace, address } = splitTarget(target);
  // The library of gRPC finds the proxy by itself, but it knows neither `*` nor a port in NO_PROXY.
  const proxy = tunnelTo(address, readProxies());
  const channelArgs = proxy ? {} : { 'grpc.enable_http_proxy': 0 };
  const asked = { ...connectionOptions, channelArgs, connectTimeout: timeoutMs, plugins };
  const connection = await connectClosably(asked, { isRepeated }).catch((cause: unknown) => {
    throw unreachable(address, cause, proxy);
  });
  try {
    return new Client({ ...ofClient, connection, namespace });
  } catch (error) {
    await connection.close();
    throw error;
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

/** Maximum pause between two attempts, in ms. Jitter adds up to a fifth. */
const maxPauseMs = 2_000;
/** The gRPC status UNAVAILABLE. */
const unavailable = 14;

interface ClosableConnectionOptions {
  /**
   * Returns whether a call that has failed `attempts` times is repeated. Default: true for up to nine failures, as in
   * the SDK.
   */
  readonly isRepeated?: (attempts: number) => boolean;
}

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type Call = ReturnType<Interceptor>;

/**
 * Opens a connection that can be closed at any time. The SDK repeats a failed call after a pause. If its connection has
 * been closed meanwhile, it throws an error that cannot be caught, which ends the process. Here the call fails instead.
 * @throws what `Connection.connect` throws
 */
async function connectClosably(
  connectionOptions: ConnectionOptions,
  { isRepeated = (attempts) => attempts < 10 }: ClosableConnectionOptions = {},
): Promise<Connection> {
  let isClosed = false;
  const repeat = makeGrpcRetryInterceptor({
    retryableDecider: (attempts, status) => !isClosed && isRepeated(attempts) && isRetryableError(status),
    delayFunction: defaultGrpcRetryOptions({ maxIntervalMs: () => maxPauseMs }).delayFunction,
  });
  // Each attempt passes this interceptor before it reaches the channel, which would throw.
  const failOnceClosed: Interceptor = (options, nextCall) => (isClosed ? failedCall() : nextCall(options)) as Call;
  const connection = await Connection.connect({ ...connectionOptions, interceptors: [repeat, failOnceClosed] });
  const close = connection.close.bind(connection);
  connection.close = async () => {
    isClosed = true;
    await close();
  };
  return connection;
}

function failedCall(): Pick<
  Call,
  'start' | 'startRead' | 'sendMessage' | 'halfClose' | 'cancelWithStatus' | 'getPeer'
> {
  const nothing = () => undefined;
  return {
    start(metadata, listener) {
      const status = { code: unavailable, details: 'The connection to Temporal is closed', metadata };
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.(status);
    },
    getPeer: () => 'closed',
    startRead: nothing,
    sendMessage: nothing,
    halfClose: nothing,
    cancelWithStatus: nothing,
  };
}
