/** All patterns of a policy, and those that match nothing: a mistyped one protects nothing, and nobody sees it. Pure. */

import type { CleanupPlan, PolicyPattern, SnapshotFacts } from '../protocol/cleanup-plan.js';
import type { CleanupPolicy } from '../protocol/cleanup-policy.js';
import { fitsAny } from './glob.js';
import type { Candidate } from './match.js';
import { mayDelete } from './plan-refusals.js';

type Matched = 'name' | 'environment' | 'creator' | 'snapshotName';

const protecting = { where: 'protect', matched: ['name', 'snapshotName'] } as const;

/** In the order of the file. */
export function patternsOf({ protect, rules }: Pick<CleanupPolicy, 'protect' | 'rules'>) {
  const inRules = rules.flatMap(({ rule, match, snapshotNames }) => {
    const of = (field: Matched, patterns: readonly (string | null)[] | null) =>
      (patterns ?? []).flatMap((pattern) =>
        pattern === null ? [] : [{ where: `the ${field} of "${rule}"`, pattern, matched: [field] }],
      );
    return [
      ...of('name', match.names),
      ...of('environment', match.environments),
      ...of('creator', match.creators),
      ...of('snapshotName', snapshotNames),
    ];
  });
  return [...protect.map((pattern) => ({ ...protecting, pattern })), ...inRules];
}

/**
 * Why a plan must not be applied: it would delete, and a pattern of `protect` that matches nothing may be mistyped.
 * Null if it may.
 */
export function unprotectedProblem(
  policy: CleanupPolicy,
  { unmatched, actions }: Pick<CleanupPlan, 'unmatched' | 'actions'>,
): string | null {
  const patterns = unmatched.filter(({ where }) => where === protecting.where).map(({ pattern }) => `"${pattern}"`);
  if (policy.protectMayMatchNothing || patterns.length === 0) return null;
  if (!actions.some(({ action }) => mayDelete(policy, action))) return null;
  const match = patterns.length === 1 ? 'matches' : 'match';
  return `it would delete, although ${patterns.join(', ')} of protect ${match} nothing; correct what is mistyped, or allow that with protectMayMatchNothing: true (--protect-may-match-nothing of a sweep)`;
}

/** The patterns that match no sandbox, or no snapshot, of the account. */
export function unmatchedPatterns(
  policy: CleanupPolicy,
  candidates: readonly Candidate[],
  snapshots: ReadonlyMap<string, readonly SnapshotFacts[]>,
): PolicyPattern[] {
  const facts = candidates.map((candidate) => candidate.facts);
  const texts: Readonly<Record<Matched, readonly string[]>> = {
    name: known(facts.map(({ name }) => name)),
    environment: known(facts.map(({ environment }) => environment)),
    creator: known(facts.flatMap(({ createdBy, createdById }) => [createdBy, createdById])),
    snapshotName: known([...snapshots.values()].flat().map(({ name }) => name)),
  };
  return patternsOf(policy)
    .filter(({ pattern, matched }) => !matched.some((kind) => texts[kind].some((text) => fitsAny([pattern], text))))
    .map(({ where, pattern }) => ({ where, pattern }));
}

const known = (texts: readonly (string | null)[]) => [...new Set(texts.filter((text) => text !== null))];
