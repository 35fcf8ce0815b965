/**
 * A connection to Temporal that reports quickly if the server cannot be reached. The SDK repeats a failed call for
 * about 20 s. A watch should notice sooner and reconnect, so this connection repeats a call for about a second.
 */
import type { Client } from '@temporalio/client';
import { type ConnectTemporalOptions, connectTemporal, type TemporalTarget } from '../../temporal/connect.js';

const maxAttempts = 4;

export interface TemporalLink {
  readonly client: Client;
  /** Runs `calls`. While the server is away, each call is repeated with the same request id, for up to `forMs`. */
  patiently<T>(forMs: number, calls: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * @param options.signal ends the wait for the server
 * @throws SandflowError `temporal_unreachable`; the reason of the signal
 */
export async function linkToTemporal(
  target: TemporalTarget,
  { signal, ...options }: ConnectTemporalOptions & { readonly signal?: AbortSignal } = {},
): Promise<TemporalLink> {
  let patientUntil = 0;
  const isRepeated = (attempts: number) => attempts < maxAttempts || Date.now() < patientUntil;
  const client = await unlessAborted(connectTemporal(target, { ...options, isRepeated }), signal);
  return {
    client,
    async patiently(forMs, calls) {
      patientUntil = Date.now() + forMs;
      try {
        return await calls();
      } finally {
        patientUntil = 0;
      }
    },
    close: () => client.connection.close(),
  };
}

/** Waits for the connection, or rejects at the abort. A connection that opens after the abort is closed. */
async function unlessAborted(connecting: Promise<Client>, signal: AbortSignal | undefined): Promise<Client> {
  if (!signal) return connecting;
  const done = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const end = () => {
      connecting.then((late) => late.connection.close()).catch(() => undefined);
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
