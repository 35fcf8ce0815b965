/** Answers the probes of an orchestrator, which may come often, at a bounded cost for Temporal. */
import type { Client } from '@temporalio/client';
import { untilAborted } from '../os/aborted.js';
import { timeLimit } from '../os/any-signal.js';

/** Makes one call to Temporal within the time limit; false if it did not succeed. */
type Answers = (call: (client: Client) => Promise<unknown>) => Promise<boolean>;

export type Probe = ReturnType<typeof createProbe>;

/**
 * Checks at most once a second, independent of the number of probes.
 * @param check says what is wrong; undefined if nothing is
 * @param options.maxAgeMs how long an answer is used again. Default: 1000
 * @param options.timeoutMs how long to wait for Temporal. Default: 1000
 */
export function createProbe(
  client: Client,
  check: (answers: Answers) => Promise<string | undefined>,
  options: { readonly maxAgeMs?: number; readonly timeoutMs?: number } = {},
) {
  const { maxAgeMs = 1_000, timeoutMs = 1_000 } = options;
  let asking: Promise<unknown> | undefined;
  let cached: { readonly atMs: number; readonly problem: Promise<string | undefined> } | undefined;

  async function answers(call: (client: Client) => Promise<unknown>): Promise<boolean> {
    const asked = client.withDeadline(Date.now() + timeoutMs, () => call(client)).then(() => true);
    asking = asked.catch(() => undefined);
    // A native connection repeats a refused call beyond the deadline.
    return untilAborted(timeLimit(timeoutMs), () => asked).catch(() => false);
  }

  return {
    /** Says what is wrong now; undefined if nothing is. */
    problem(): Promise<string | undefined> {
      const nowMs = performance.now();
      if (cached === undefined || nowMs - cached.atMs > maxAgeMs) cached = { atMs: nowMs, problem: check(answers) };
      return cached.problem;
    },
    /** Resolves when no question to Temporal is in progress: a closed connection must not be asked again. */
    async settled() {
      await asking;
    },
    reset(): void {
      cached = undefined;
    },
  };
}
