/** The progress of the background copy of a restored sandbox (specification, "Sandbox", field `hydration`). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../core/context.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

export interface Hydration {
  readonly phase: string;
  readonly entriesDone: number;
  readonly entriesTotal: number | null;
  readonly percent: number | null;
}

/** How long the sandbox may take to answer; after that `hydration` is null (specification, "Limits": 1.5 s). */
const answerWithinMs = 1_500;
/** The number of entries that is assumed for a disk with too many entries to count. */
const uncountedEntries = 100_000;

/** The share of the copy at which each phase ends. */
const phases = [
  { phase: 'dvol', until: 0.1 },
  { phase: 'sysdelta', until: 0.25 },
  { phase: 'images', until: 0.4 },
  { phase: 'hydrating', until: 0.9 },
  { phase: 'reconciling', until: 1 },
] as const;
/** Up to this share, only system files are counted, so the total and the percentage are not shown. */
const countedFrom = 0.25;
/** The furthest share that is shown while files are copied: none of them is counted. */
const copyingUntil = 0.249;
/** The share of the copy at which a fault makes a step fail. */
const setbackAt = 0.5;

/** Uses up a fault if one is armed. */
export function takeSetback({ faults }: Context): SandboxRecord['hydrationSetback'] {
  const degraded = faults.take('hydration_degraded');
  const fault = degraded ?? faults.take('hydration_stuck');
  return fault ? { phase: degraded ? 'degraded' : 'stuck', ms: fault.ms } : null;
}

/** When the configured time of a hydration ends, with that of a fault. */
export function hydrationEndMs(
  { timings, clock }: Context,
  { hydrationStartedAt, hydrationSetback }: SandboxRecord,
): number {
  const startedMs = hydrationStartedAt === null ? clock.now() : Date.parse(hydrationStartedAt);
  return startedMs + timings.hydrationMs + (hydrationSetback?.ms ?? 0);
}

/**
 * The progress of a sandbox that is not hydrated; null once it is hydrated, or if it does not answer in time. It is the
 * fraction of the configured time that has passed. While files are copied, it claims none of them: it stays in the
 * phases before they are counted.
 */
export async function hydrationOf(context: Context, sandboxId: string): Promise<Hydration | null> {
  const { faults, closing, stores, clock, timings } = context;
  const late = faults.take('hydration_late');
  if (late) {
    await delay(Math.min(late.ms, answerWithinMs), undefined, { signal: closing });
    if (late.ms > answerWithinMs) return null;
  }
  const record = stores.sandboxes.get(sandboxId);
  if (!record || record.hydrated || record.hydrationStartedAt === null) return null;
  return progress(record, {
    passedMs: clock.now() - Date.parse(record.hydrationStartedAt),
    hydrationMs: timings.hydrationMs,
  });
}

function progress(
  { hydrationSetback: setback, hydrationEntries, copyingFrom }: SandboxRecord,
  { passedMs, hydrationMs }: { readonly passedMs: number; readonly hydrationMs: number },
): Hydration {
  const setbackFromMs = setbackAt * hydrationMs;
  const setbackMs = setback && passedMs > setbackFromMs ? Math.min(setback.ms, passedMs - setbackFromMs) : 0;
  const isCopying = copyingFrom !== null;
  const share = Math.max(0, Math.min(isCopying ? copyingUntil : 0.999, (passedMs - setbackMs) / hydrationMs));
  const phase = phases.find(({ until }) => share < until)?.phase ?? 'reconciling';
  const failing = setback !== null && setbackMs > 0 && setbackMs < setback.ms;
  const counted = share >= countedFrom;
  return {
    phase: failing ? setback.phase : phase,
    entriesDone: isCopying ? 0 : Math.floor(share * (hydrationEntries ?? uncountedEntries)),
    entriesTotal: counted ? hydrationEntries : null,
    percent: counted ? Math.floor(100 * share) : null,
  };
}
