/** How long reads of the service may lag behind what it has accepted. */

/** How long a 404 must last to be final, in ms. The default of the timing `readLagMs`. */
export const defaultReadLagMs = 90_000;

/** The longest pause, in ms, between calls that are repeated because an answer may be stale. */
export const longestLagPauseMs = 15_000;
