/**
 * A connection to Temporal that can be closed at any moment. The SDK repeats a failed call after a pause, and a
 * repetition that is due after `close` throws where nobody can catch it, which ends the whole process. Here it fails.
 */
import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/** The longest pause between two attempts, in ms. Each is up to a fifth longer by chance. */
const maxPauseMs = 2_000;
/** The gRPC status UNAVAILABLE. */
const unavailable = 14;

export interface ClosableConnectionOptions {
  /** Whether a call that has failed so many times is made again. Default: nine times, as by the SDK itself. */
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
  // Each attempt passes here, before the channel that would throw.
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
