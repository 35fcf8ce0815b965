/**
 * A connection to Temporal that says soon when the server is gone. The SDK repeats a failed call for some 20 s. A watch
 * should notice sooner and bring the server back; so here a call is repeated for about a second.
 */
import { Client, type ClientOptions, type Connection } from '@temporalio/client';
import { connectClosably } from '../../temporal/closable-connection.js';
import { splitTarget, type TemporalTarget } from '../../temporal/connect.js';
import { unreachable } from '../../temporal/unreachable.js';

const maxAttempts = 4;
const defaultTimeoutMs = 10_000;

export interface TemporalLink {
  readonly client: Client;
  /** Runs calls that are repeated for up to `forMs` while the server is away, each with the request id that it has. */
  patiently<T>(forMs: number, calls: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * @param options.timeoutMs how long to wait for the server; 10 s by default
 * @param options.signal ends the wait
 * @param options.dataConverter the deployment's
 * @throws SandflowError `temporal_unreachable`; the reason of the signal
 */
export async function linkToTemporal(
  target: TemporalTarget,
  options: {
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal;
    readonly dataConverter?: ClientOptions['dataConverter'];
  } = {},
): Promise<TemporalLink> {
  const { connectionOptions, namespace, address } = splitTarget(target);
  let patientUntil = 0;
  const isRepeated = (attempts: number) => attempts < maxAttempts || Date.now() < patientUntil;
  try {
    const connectTimeout = options.timeoutMs ?? defaultTimeoutMs;
    const connecting = connectClosably({ ...connectionOptions, connectTimeout }, { isRepeated });
    const connection = await unlessAborted(connecting, options.signal);
    return {
      client: new Client({ connection, namespace, dataConverter: options.dataConverter }),
      async patiently(forMs, calls) {
        patientUntil = Date.now() + forMs;
        try {
          return await calls();
        } finally {
          patientUntil = 0;
        }
      },
      close: () => connection.close(),
    };
  } catch (cause) {
    options.signal?.throwIfAborted();
    throw unreachable(address, cause);
  }
}

/** A connection that comes too late is closed. */
async function unlessAborted(connecting: Promise<Connection>, signal: AbortSignal | undefined): Promise<Connection> {
  if (!signal) return connecting;
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const end = () => {
      connecting.then((late) => late.close()).catch(() => undefined);
      reject(signal.reason);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([connecting, aborted]);
  } finally {
    done.abort();
  }
}
