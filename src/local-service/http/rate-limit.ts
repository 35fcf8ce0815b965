import type { Clock } from '../clock.js';
import { ServiceError } from '../service-error.js';

/** Refuses what goes past a number of requests in a second; `rate_limited` with `Retry-After` (trap S14). */
export function createRateLimit(clock: Clock, requestsPerSecond: number | undefined): () => void {
  let second = 0;
  let count = 0;
  return () => {
    if (requestsPerSecond === undefined) return;
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      count = 0;
    }
    count++;
    if (count <= requestsPerSecond) return;
    const message = `More than ${requestsPerSecond} requests in a second. Wait a second, then go on.`;
    throw new ServiceError(429, 'rate_limited', message, { retryAfterSeconds: 1 });
  };
}
