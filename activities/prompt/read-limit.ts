/** Limits how often the follows of a process read. */

/** Number of reads allowed in a burst after a quiet period. */
const burst = 8;

/** A limit of one read per `everyMs`, in ms, in this process. */
export function createReadLimit(everyMs: number) {
  let spentUntilMs = 0;
  return {
    /** When the next read is allowed, in ms since the epoch. */
    nextMs: () => spentUntilMs - (burst - 1) * everyMs,
    spend() {
      spentUntilMs = Math.max(Date.now(), spentUntilMs) + everyMs;
    },
  };
}
