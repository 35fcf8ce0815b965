import type { Caller } from '../access/key-scope.js';
import type { Clock } from '../clock.js';
import type { LocalServiceLimits } from '../core/context.js';
import { ServiceError } from '../service-error.js';

/**
 * Refuses a caller's requests with `rate_limited` and `Retry-After` once they exceed the limit per second or minute
 * (trap S14).
 * Requests are counted for each key, and for all sessions of an account together.
 */
export function createRateLimit(clock: Clock, limits: LocalServiceLimits): (caller: Caller) => void {
  const windows = [
    createWindow({ clock, seconds: 1, max: limits.requestsPerSecond, name: 'second' }),
    createWindow({ clock, seconds: 60, max: limits.requestsPerMinute, name: 'minute' }),
  ];
  return (caller) => {
    const who = caller.keyId ?? `${caller.kind} ${caller.accountId}`;
    for (const count of windows) count(who);
  };
}

function createWindow(options: {
  readonly clock: Clock;
  readonly seconds: number;
  readonly max: number | undefined;
  readonly name: string;
}): (who: string) => void {
  const { clock, seconds, max, name } = options;
  let began = 0;
  const counts = new Map<string, number>();
  return (who) => {
    if (max === undefined) return;
    const now = clock.now();
    const window = Math.floor(now / 1000 / seconds);
    if (window !== began) {
      began = window;
      counts.clear();
    }
    const count = (counts.get(who) ?? 0) + 1;
    counts.set(who, count);
    if (count <= max) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((window + 1) * seconds - now / 1000));
    const message = `More than ${max} requests in one ${name}. Wait ${retryAfterSeconds} s, then retry.`;
    throw new ServiceError(429, 'rate_limited', message, { retryAfterSeconds });
  };
}
