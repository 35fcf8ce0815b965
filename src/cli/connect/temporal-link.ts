/**
 * A connection to Temporal that reports quickly if the server cannot be reached. The SDK repeats a failed call for
 * about 20 s. A watch should notice sooner and reconnect, so this connection repeats a call for about a second.
 */
import { untilAborted } from '../../os/aborted.js';
import { type ConnectTemporalOptions, connectTemporal, type TemporalTarget } from '../../temporal/connect.js';

const maxAttempts = 4;

/**
 * @param options.signal ends the wait for the server
 * @throws SandflowError `temporal_unreachable`; the reason of the signal
 */
export async function linkToTemporal(
  target: TemporalTarget,
  { signal, ...options }: ConnectTemporalOptions & { readonly signal?: AbortSignal } = {},
) {
  let patientUntil = 0;
  const isRepeated = (attempts: number) => attempts < maxAttempts || Date.now() < patientUntil;
  const connecting = connectTemporal(target, { ...options, isRepeated });
  const client = await (signal ? untilAborted(signal, () => connecting) : connecting).catch((error: unknown) => {
    // It may open after the abort.
    connecting.then((late) => late.connection.close()).catch(() => undefined);
    throw error;
  });
  return {
    client,
    /** Runs `calls`. While the server is away, each call is repeated with the same request id, for up to `forMs`. */
    async patiently<T>(forMs: number, calls: () => Promise<T>): Promise<T> {
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
