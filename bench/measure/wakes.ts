/**
 * Measures the time from sending a webhook to the next API call about its sandbox. Both are in the books of the
 * service.
 */
import type { BookPages } from './book-reader.js';

export interface WakeLags {
  /** From `sandbox.ready` to the prompt, which an ordinary activity sends. */
  readonly readyMs: readonly number[];
  /** From `sandbox.archived` to the read that confirms the stop, which a local activity sends. */
  readonly archivedMs: readonly number[];
}

/** @param sandboxIds the sandboxes that count, such as those of jobs but not of scripts */
export function wakeLags({ calls, deliveries }: BookPages, sandboxIds: ReadonlySet<string>): WakeLags {
  const callsOf = new Map<string, number[]>();
  for (const { sandboxId, receivedAt } of calls) {
    if (sandboxId === null || !sandboxIds.has(sandboxId)) continue;
    const times = callsOf.get(sandboxId) ?? [];
    callsOf.set(sandboxId, times);
    times.push(receivedAt);
  }
  const readyMs: number[] = [];
  const archivedMs: number[] = [];
  for (const { type, sandboxId, sentAt, attempt } of deliveries) {
    if (attempt !== 1) continue;
    const next = callsOf.get(sandboxId)?.find((receivedAt) => receivedAt > sentAt);
    if (next === undefined) continue;
    if (type === 'sandbox.ready') readyMs.push(next - sentAt);
    if (type === 'sandbox.archived') archivedMs.push(next - sentAt);
  }
  return { readyMs, archivedMs };
}
