import type { BridgeLog } from './bridge-options.js';

/** Shows that the secret at the service is no longer one of the bridge's. It showed only as missing events. */
export interface RefusedSignatures {
  refused(): void;
  accepted(): void;
  /** Deliveries with a signature of another secret since the last delivery that was accepted. */
  count(): number;
}

/** Anyone may send deliveries, so only the first one after an accepted one is logged. */
export function createRefusedSignatures(log: BridgeLog): RefusedSignatures {
  let refused = 0;
  return {
    refused() {
      refused += 1;
      if (refused > 1) return;
      log(
        'A delivery was refused: its signature is that of another secret. If the service sent it, replace the secret with `sandflow webhooks connect --rotate` or `sandflow webhooks rotate WEBHOOK`.',
      );
    },
    accepted() {
      refused = 0;
    },
    count: () => refused,
  };
}
