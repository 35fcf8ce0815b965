/** The lines after a cleanup, and whether it needs attention. */
import { expect, test } from 'vitest';
import { summaryLines, wentWell } from '../../../../src/cli/cleanup/report-text.js';
import type { CleanupSummary } from '../../../../src/protocol/cleanup.js';

const planned = {
  planRef: 'plan',
  fleet: 4,
  allowed: 1,
  takenTonight: 0,
  due: 0,
  overLimit: 0,
  limitProblem: null,
  unmatched: [],
  unmatchedCount: 0,
  orphans: 0,
  unknownOwners: 0,
  unreadable: 0,
  warnings: [],
  warningCount: 0,
  refusal: null,
};
const summaryWith = (
  over: Partial<NonNullable<CleanupSummary['planned']>>,
  outcome: CleanupSummary['outcome'] = 'applied',
): CleanupSummary => ({
  workflowId: 'w',
  policy: 'nightly',
  outcome,
  startedAt: '',
  endedAt: '',
  planned: { ...planned, ...over },
  counts: { stopped: 0, deleted: 0, gone: 0, escalating: 0, skipped: 0, failed: 0, not_confirmed: 0, not_reached: 0 },
  machinesLeft: null,
  reportRef: null,
  apiCalls: 0,
  error: null,
});

test.each(['planned', 'applied'] as const)(
  'a limit that lets nothing act is told, and needs attention: %s',
  (outcome) => {
    const limitProblem = 'limits.maxActions is 0, so nothing is ever stopped or deleted';
    const summary = summaryWith({ limitProblem, overLimit: 3 }, outcome);
    expect(summaryLines(summary)).toEqual([
      `nightly: ${outcome} · 0 due of 4 · 3 left for the next night`,
      `This needs attention: ${limitProblem}.`,
    ]);
    expect(wentWell(summary)).toBe(false);
    expect(wentWell(summaryWith({ overLimit: 3 }, outcome))).toBe(true);
  },
);

test('machines that go on running although they are due are told with what they cost', () => {
  expect(summaryLines({ ...summaryWith({}), machinesLeft: 2 })[1]).toBe(
    '2 machines that should have ended still cost machine time.',
  );
  expect(summaryLines({ ...summaryWith({}, 'planned'), machinesLeft: 2 })).toHaveLength(1);
});

test('patterns that match nothing are named in one line, at most ten of them', () => {
  const one = { unmatched: [{ where: 'protect', pattern: 'golden-*' }], unmatchedCount: 1 };
  expect(summaryLines(summaryWith(one))[1]).toBe('1 pattern of the policy matches nothing now: golden-* (protect).');
  const unmatched = Array.from({ length: 50 }, (_, at) => ({ where: 'the name of "a\nb"', pattern: `p${at}` }));
  const line = summaryLines(summaryWith({ unmatched, unmatchedCount: 60 }))[1];
  expect(line).toMatch(
    /^60 patterns of the policy match nothing now: p0 \(the name of "a b"\), .*, and 50 more \(list them with --all\)\.$/,
  );
  expect(wentWell(summaryWith(one))).toBe(true);
});

test('with --all, every pattern that matches nothing is named', () => {
  const unmatched = Array.from({ length: 60 }, (_, at) => ({ where: 'protect', pattern: `p${at}` }));
  const summary = summaryWith({ unmatched: unmatched.slice(0, 50), unmatchedCount: 60 });
  const line = summaryLines(summary, { unmatched, warnings: [] })[1];
  expect(line).toMatch(/^60 patterns .*: p0 \(protect\), .*, p59 \(protect\)\.$/);
});

test('with --all, every warning is shown; without, the number of the others', () => {
  const warnings = Array.from({ length: 51 }, (_, at) => ({
    sandboxId: `bx_${at}`,
    name: null,
    dataExpiresAt: 'soon',
  }));
  const summary = summaryWith({ warnings: warnings.slice(0, 50), warningCount: 51 });
  expect(summaryLines(summary, { unmatched: [], warnings })).toHaveLength(52);
  expect(summaryLines(summary).at(-1)).toBe('… and of 1 sandbox more (list them with --all).');
});
