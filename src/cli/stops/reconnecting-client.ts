/** Makes the Temporal calls of several parallel waits. When the connection is lost, one wait reconnects for all. */
import type { Client } from '@temporalio/client';
import { abortable } from '../../temporal/calls.js';
import { isTemporalUnreachable } from '../../temporal/errors.js';
import type { Platform } from '../connect/platform.js';
import type { Reporter } from '../output/reporter.js';

export type ReconnectingClient = ReturnType<typeof createReconnectingClient>;

/** @param options `interrupted` ends the calls in progress */
export function createReconnectingClient(
  platform: Pick<Platform, 'temporal' | 'reconnect'>,
  { reporter, interrupted }: { readonly reporter: Reporter; readonly interrupted: AbortSignal },
) {
  let reconnecting: Promise<void> | undefined;
  const reconnect = () => {
    reconnecting ??= platform.reconnect(reporter).finally(() => {
      reconnecting = undefined;
    });
    return reconnecting;
  };

  return {
    /**
     * @param call must be safe to repeat
     * @throws what `call` throws, and what a reconnect throws
     */
    async call<T>(call: (temporal: Client) => Promise<T>): Promise<T> {
      for (;;) {
        await reconnecting;
        const { temporal } = platform;
        try {
          return await abortable(temporal, interrupted, () => call(temporal));
        } catch (error) {
          if (interrupted.aborted) throw error;
          // True if another wait has replaced the connection during this call, or is replacing it.
          const isReplaced = reconnecting !== undefined || platform.temporal !== temporal;
          if (!isReplaced && !isTemporalUnreachable(error)) throw error;
          if (platform.temporal === temporal) await reconnect();
        }
      }
    },
  };
}
