/** What a cleanup tells at its end: one result a night that a person reads in ten seconds. Pure. */
import type { ActionOutcome, CleanupSummary, ResultRemoval } from './cleanup.js';

const texts: readonly (readonly [ActionOutcome, string])[] = [
  ['stopped', 'stopped'],
  ['deleted', 'deleted'],
  ['gone', 'already gone'],
  ['escalating', 'escalating'],
  ['skipped', 'skipped'],
  ['failed', 'failed'],
  ['not_confirmed', 'not confirmed'],
  ['not_reached', 'not reached'],
];

export function nightMessage({ policy, counts, planned, machinesLeft, error, results }: CleanupSummary): string {
  const done = texts.filter(([outcome]) => counts[outcome] > 0).map(([outcome, text]) => `${counts[outcome]} ${text}`);
  const over = planned && planned.overLimit > 0 ? [`${planned.overLimit} left for the next night`] : [];
  const all = [...done, ...over].join(', ') || 'nothing to do';
  const why = [error?.message, planned?.refusal?.why, planned?.limitProblem].find((text) => text != null);
  const cost = machinesLeft ? [machinesText(machinesLeft)] : [];
  const removed = results ? [removalText(results, 'removed')] : [];
  return [`${policy}: ${all}`, ...(why === undefined ? [] : [why]), ...cost, ...removed].join('. ');
}

/** What became of forgotten results, in one sentence without its end. */
export function removalText({ removed, folders, problem }: ResultRemoval, done: 'removed' | 'due'): string {
  return `Results of forgotten jobs: ${removed} of ${folders} folders ${done}${problem === null ? '' : `; ${problem}`}`;
}

/** What it costs to leave them. */
export function machinesText(count: number): string {
  return count === 1
    ? '1 machine that should have ended still costs machine time'
    : `${count} machines that should have ended still cost machine time`;
}
