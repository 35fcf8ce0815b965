/** How often follows look themselves, all of a process together, while the list that they share says nothing. */

export interface ReadLimit {
  /** From when on there is one to spend, in ms since the epoch. */
  nextMs(): number;
  spend(): void;
}

/** One look is two calls as a rule: 1,000 follows make 8 a second, and each is looked at every 4 minutes. */
const everyMs = 250;
/** So many may follow one another at once after a quiet time. */
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
