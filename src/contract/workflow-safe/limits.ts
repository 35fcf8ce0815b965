/** The limits of the service, and of the calls to it. */

/**
 * How long a 404 must last to be final, in ms, because reads may lag behind what the service has accepted. The default
 * of the timing `readLagMs`.
 */
export const defaultReadLagMs = 90_000;

/** The longest pause, in ms, between calls that are repeated because an answer may be stale. */
export const longestLagPauseMs = 15_000;

/**
 * How long a call without an answer may still take effect, in ms. The client gives a call up after this time, and a
 * proxy that holds it for longer gives it up too.
 */
export const lateCallMs = 30_000;

/** Maximum size of all pages of a list together, in bytes. Each page is bounded, but there may be many pages. */
export const maxListBytes = 128 * 1024 * 1024;

/** Largest file that is read or written as JSON, in bytes (assumption A-file-limit). */
export const maxFileBytes = 32 * 1024 * 1024;

/** The longest command, in bytes. Linux allows 128 KiB for one argument; the rest is for what is added to the command. */
export const maxCommandBytes = 120 * 1024;

/** The longest auto-stop of a sandbox, in seconds. Assumption: the service refuses a longer one. */
export const maxTtlSeconds = 100 * 366 * 24 * 3600;

/** How long the service keeps the data of a stopped sandbox, in ms (specification, "Limits"). */
export const dataKeptMs = 14 * 86_400_000;

/** Calls per second on the queue of forks, for all its workers, unless a worker is told otherwise. */
export const defaultForksPerSecond = 20;
