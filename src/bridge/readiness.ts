import type { Client } from '@temporalio/client';
import type { SecretSource } from './bridge-options.js';

export interface Readiness {
  /** Says why the bridge cannot take a delivery now; undefined if it can. */
  problem(): Promise<string | undefined>;
  /** Resolves when no question to Temporal is in progress: a closed connection must not be asked again. */
  settled(): Promise<void>;
  reset(): void;
}

/** Queries Temporal at most once a second, independent of the number of requests. */
export function createReadiness(
  client: Client,
  secrets: SecretSource,
  options: { readonly maxAgeMs?: number; readonly timeoutMs?: number } = {},
): Readiness {
  const { maxAgeMs = 1_000, timeoutMs = 1_000 } = options;
  let asking: Promise<void> | undefined;
  let cached: { readonly atMs: number; readonly answer: Promise<string | undefined> } | undefined;

  async function check(): Promise<string | undefined> {
    try {
      if ((await secrets()).length === 0) return 'no webhook secret';
    } catch {
      return 'the webhook secrets cannot be read';
    }
    const late = timer(timeoutMs);
    try {
      const asked = client.withDeadline(Date.now() + timeoutMs, () => client.workflowService.getSystemInfo({}));
      asking = asked.then(
        () => undefined,
        () => undefined,
      );
      // A native connection repeats a refused call beyond the deadline.
      if ((await Promise.race([asked, late.promise])) !== 'late') return undefined;
    } catch {
      // Said below.
    } finally {
      late.clear();
    }
    return 'Temporal cannot be reached';
  }

  return {
    problem() {
      const nowMs = performance.now();
      if (cached === undefined || nowMs - cached.atMs > maxAgeMs) cached = { atMs: nowMs, answer: check() };
      return cached.answer;
    },
    async settled() {
      await asking;
    },
    reset() {
      cached = undefined;
    },
  };
}

function timer(ms: number) {
  let timeout: NodeJS.Timeout | undefined;
  const promise = new Promise<'late'>((resolve) => {
    timeout = setTimeout(resolve, ms, 'late');
  });
  return { promise, clear: () => clearTimeout(timeout) };
}
