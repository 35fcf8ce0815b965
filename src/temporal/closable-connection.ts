/**
 * Opens connections to Temporal that can be closed at any time. The SDK repeats a failed call after a pause. If the
 * connection has been closed meanwhile, the SDK throws an error that cannot be caught, which ends the process. On a
 * connection of this module the call fails instead.
 */
import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/** Maximum pause between two attempts, in ms. Jitter adds up to a fifth. */
const maxPauseMs = 2_000;
/** The gRPC status UNAVAILABLE. */
const unavailable = 14;

export interface ClosableConnectionOptions {
  /**
   * Returns whether a call that has failed `attempts` times is repeated. Default: true for up to nine failures, as in
   * the SDK.
   */
  readonly isRepeated?: (attempts: number) => boolean;
}

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type Call = ReturnType<Interceptor>;

/** @throws what `Connection.connect` throws */
export async function connectClosably(
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
