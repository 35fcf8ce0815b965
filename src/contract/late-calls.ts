/**
 * How long a call without an answer may still take effect, in ms. The client gives a call up after this time, and a
 * proxy that holds it for longer gives it up too.
 */
export const lateCallMs = 30_000;
