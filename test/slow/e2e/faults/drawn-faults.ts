/** Faults of calls, drawn by a seed: a tap between a worker and the service. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { LocalService } from '../../../e2e/stack/fixture-parts.js';
import { type AskedCall, createTap, type PassedCall, type Refusal, type Tap } from '../../../e2e/stack/fixture-tap.js';

/** What happens to a call, and in how many of a hundred calls. */
const shares = {
  /** The connection ends, without an effect. */
  reset: 3,
  slow: 4,
  /** An error, without an effect. */
  refused: 5,
  /** The connection ends after the effect. */
  lost: 8,
} as const;
type Fault = keyof typeof shares;
const longestDelayMs = 3_000;
/** Draws are made in the order of the calls, and begin anew after so many. */
const draws = 50_000;

export interface FaultyTap extends Tap {
  /** How often each fault has struck. */
  readonly struck: Readonly<Record<Fault, number>>;
}

/**
 * @param options.certain the refusal of a call that fails in any case
 * @param options.onAccepted called with each call that the service has accepted, before its caller gets the answer
 */
export async function createFaultyTap(
  service: LocalService,
  options: {
    readonly seed: number;
    readonly certain: (call: AskedCall) => Refusal | undefined;
    readonly onAccepted: (call: PassedCall) => void;
  },
): Promise<FaultyTap> {
  const drawn = fc.sample(fc.noBias(fc.nat(99)), { seed: options.seed, numRuns: draws });
  const struck = { reset: 0, slow: 0, refused: 0, lost: 0 };
  let count = 0;
  const draw = () => {
    count += 1;
    return drawn[count % draws] ?? 0;
  };
  const strikes = (fault: Fault) => {
    if (draw() >= shares[fault]) return false;
    struck[fault] += 1;
    return true;
  };
  const onAnswered = (call: PassedCall) => {
    if (call.status < 300) options.onAccepted(call);
    return !strikes('lost');
  };
  const tap = await createTap(service.url, onAnswered, {
    async onAsked() {
      if (strikes('reset')) throw new Error('The connection ends.');
      if (strikes('slow')) await sleep((draw() / 100) * longestDelayMs);
    },
    refusal: (call) =>
      options.certain(call) ?? (strikes('refused') ? { status: 503, code: 'service_unavailable' } : undefined),
  });
  return { ...tap, struck };
}
