/** How a job ends to which nothing happens, by its plan alone. */
import type { FailureClass } from '../../../src/protocol/result-error-codes.js';
import type { BatchPlan, JobPlan, RunPlan } from '../plan/plan.js';
import { failingSources } from '../players/sources.js';

export interface ExpectedEnd {
  readonly outcome: string;
  readonly code: string | null;
  readonly failureClass: FailureClass | null;
  /** Whether each round of checks passes, in order. Null without checks. */
  readonly rounds: readonly boolean[] | null;
}

const failures = {
  agent: { outcome: 'prompt_failed', code: 'prompt_failed', failureClass: 'agent' },
  provider: { outcome: 'rejected', code: 'provider_not_configured', failureClass: 'provider' },
  command: { outcome: 'sandbox_failed', code: 'command_failed', failureClass: 'setup' },
} as const;
/** A shell does not find the check of an item. */
const checkNotStarted = { outcome: 'unverified', code: 'check_not_started', failureClass: 'setup' } as const;
const completed = { outcome: 'completed', code: null, failureClass: null } as const;

export function expectedEnd(plan: RunPlan): ExpectedEnd {
  const { checks, fails } = plan;
  if (!checks) return { ...(fails ? failures[fails] : completed), rounds: null };
  // Commands run before the checks do.
  if (fails === 'command') return { ...failures.command, rounds: [] };
  const { shows, mends, before } = checks;
  const isPassedBefore = shows === 'passes' && mends === 0;
  const first = before ? [isPassedBefore] : [];
  if (before && shows === 'missing') {
    return { ...checkNotStarted, rounds: first };
  }
  if (fails) return { ...failures[fails], rounds: first };
  const isSame = shows === 'repeats' || shows === 'missing';
  const neededRounds = shows === 'passes' ? mends + 1 : Number.POSITIVE_INFINITY;
  const count = Math.min(checks.rounds, neededRounds, isSame ? 2 : Number.POSITIVE_INFINITY);
  const rounds = [...first, ...Array.from({ length: count }, (_, at) => at + 1 >= neededRounds)];
  if (rounds.at(-1)) return { ...completed, rounds };
  // The last round may be the first one that repeats a failure.
  const code = isSame && count < checks.rounds ? 'check_repeated' : 'check_failed';
  return { outcome: 'unverified', code, failureClass: 'check', rounds };
}

/** How the items of a batch end that fail alike; undefined for another batch. */
export function alikeFailures({ alike }: BatchPlan): Omit<ExpectedEnd, 'rounds'> | undefined {
  if (!alike) return undefined;
  return alike.by === 'check' ? checkNotStarted : failures.provider;
}

/** The outcome of a batch of several sources. @param isMended whether a person has mended the preparations */
export function expectedOfSources(plan: BatchPlan, isMended: boolean): string {
  const failing = failingSources(plan, isMended).length;
  if (failing === 0) return 'completed';
  return failing === plan.sources?.of.length ? 'source_failed' : 'partly_failed';
}

/** The outcomes of a job to which nothing happens; undefined if any good end will do. */
export function expectedOutcomes(plan: JobPlan): readonly string[] | undefined {
  if (plan.kind === 'run') return [expectedEnd(plan).outcome];
  if (plan.kind !== 'batch') return undefined;
  if (plan.sources) return [expectedOfSources(plan, plan.sources.afterwards === 'mend')];
  if (!plan.alike) return undefined;
  const { whenHeld, breaker } = plan.alike;
  // A batch of too few items ends before anybody decides.
  if (whenHeld === 'cancel')
    return plan.items > breaker - 1 + plan.concurrency ? ['cancelled'] : ['cancelled', 'partly_failed'];
  return ['partly_failed'];
}
