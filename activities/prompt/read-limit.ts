/** Rate limit of the follows' own reads, per process, while the shared list gives no information. */

export interface ReadLimit {
  /** When the next read is allowed, in ms since the epoch. */
  nextMs(): number;
  spend(): void;
}

/** One read is usually two calls: 1,000 follows make 8 calls a second, and each follow reads every 4 minutes. */
const everyMs = 250;
/** Number of reads allowed in a burst after a quiet period. */
const burst = 8;

export function createReadLimit(): ReadLimit {
  let spentUntilMs = 0;
  return {
    nextMs: () => spentUntilMs - (burst - 1) * everyMs,
    spend() {
      spentUntilMs = Math.max(Date.now(), spentUntilMs) + everyMs;
    },
  };
}
