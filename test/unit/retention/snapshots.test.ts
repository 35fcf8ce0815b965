/** Which snapshots of a sandbox may be deleted. */
import { expect, test } from 'vitest';
import type { SnapshotFacts } from '../../../src/protocol/cleanup-plan.js';
import type { Rule } from '../../../src/protocol/cleanup-policy.js';
import { deletableSnapshots } from '../../../src/retention/snapshots.js';
import { daysAgo, nowMs, ruleWith } from './builders.js';

const dayMs = 86_400_000;
const made = (id: string, days: number | null, name: string | null = null): SnapshotFacts => ({
  id,
  name,
  createdAt: days === null ? null : daysAgo(days),
});
const newest = made('newest', 0);
const deletable = (list: readonly SnapshotFacts[], rule: Partial<Rule> = {}, protect: readonly string[] = []) =>
  deletableSnapshots(list, ruleWith(rule), { protect, nowMs }).map(({ id }) => id);

test.each<[string, readonly string[], Partial<Rule>, readonly SnapshotFacts[]]>([
  ['all but the newest, oldest first', ['c', 'a'], {}, [made('a', 1), newest, made('c', 3)]],
  ['none if there are no more than are kept', [], { keepSnapshots: 3 }, [made('a', 1), newest]],
  ['no named one', ['b'], {}, [made('a', 2, 'base'), made('b', 1), newest]],
  [
    'a named one that the rule lists',
    ['a'],
    { snapshotNames: ['tmp-*'] },
    [made('a', 2, 'tmp-1'), made('b', 1, 'base'), newest],
  ],
  [
    'those older than the rule says',
    ['a'],
    { snapshotsOlderThanMs: 2 * dayMs },
    [made('a', 3), made('b', 2), made('c', 1), newest],
  ],
  ['one of unknown age is the newest', ['a'], {}, [made('b', null), made('a', 1)]],
  ['one of unknown age is not old enough', [], { snapshotsOlderThanMs: 0 }, [made('a', null), made('b', null)]],
  ['of equal age by id', ['a', 'b'], {}, [made('c', 1), made('a', 1), made('b', 1)]],
  ['of unknown age by id', ['a', 'b'], {}, [made('b', null), made('c', null), made('a', null)]],
  ['of equal age by id, in whatever order', ['a', 'b'], {}, [made('a', 1), made('b', 1), made('c', 1)]],
])('%s', (_, expected, rule, list) => {
  expect(deletable(list, rule)).toEqual(expected);
});

test('a protected name is never deleted', () => {
  const list = [made('a', 2, 'tmp-1'), made('b', 1, 'tmp-2'), newest];
  expect(deletable(list, { snapshotNames: ['tmp-*'] }, ['tmp-1'])).toEqual(['b']);
});
