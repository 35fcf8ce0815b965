/**
 * What workflows count for those who operate them (docs/monitoring.md). The SDK leaves out replays, and a count adds neither
 * an event nor an action. Labels have few values: none is an id, but that of a batch with a budget.
 */
import { metricMeter } from '@temporalio/workflow';
import { machineSeconds, machineSizes } from '../../src/contract/workflow-safe/machine-types.js';
import { codeLabel } from '../../src/protocol/code-label.js';
import { failureClassOf } from '../../src/protocol/failure-class.js';
import type { JobError } from '../../src/protocol/job/job-result.js';
import type { FailureClass } from '../../src/protocol/result-error-codes.js';

/** @param kind `retried_item`: an item that ended, and runs again as its next generation */
export function countEnd(
  kind: 'job' | 'item' | 'retried_item' | 'batch' | 'stop' | 'cleanup',
  ended: { readonly outcome: string; readonly error: JobError | null; readonly failureClass?: FailureClass | null },
): void {
  const { outcome, error, failureClass = failureClassOf(ended) } = ended;
  const labels = { kind, outcome, failure: codeLabel(error?.code), class: failureClass ?? 'none' };
  count('sandflow_work_ended', 'What ended, by its outcome, the code of its error and whose failure it is', labels);
}

/** Counts a refused or unanswered call, which is made again after a wait. */
export function countRefusedCall(step: string, { code, meaning }: { readonly code: string; readonly meaning: string }) {
  const labels = { step, code: codeLabel(code), meaning };
  count('sandflow_refused_calls', 'Calls that the service refused or left unanswered, made again', labels);
}

/** @param round 0 before the first prompt; a job has ten at most */
export function countRound({ round, passed }: { readonly round: number; readonly passed: boolean }): void {
  const labels = { round: String(round), result: passed ? 'passed' : 'failed' };
  count('sandflow_check_rounds', 'Rounds of checks that have ended', labels);
}

/** Call it when a block begins, and each time that the workflow finds it still there. */
export function observeBlock({ reason, since }: { readonly reason: string; readonly since: string }, code: string) {
  observe('sandflow_blocked_seconds', 'How long work has been blocked, at each try', Date.now() - Date.parse(since), {
    reason,
    code: codeLabel(code),
  });
}

/** @param lateMs the time from what should wake the workflow until it woke, in ms; NaN if unknown */
export function observeWake(source: 'webhook' | 'safety_poll' | 'deadline' | 'follower', lateMs: number): void {
  observe('sandflow_wake_lag_seconds', 'How late workflows woke, by what woke them', lateMs, { source });
}

/** Counts the end of a wait for an event: one that a poll ended has lost its event, or the event is late. */
export function countWaitEnd(by: 'webhook' | 'safety_poll'): void {
  count('sandflow_event_waits_ended', 'Waits for an event, by what ended them', { by });
}

export function observeFailingStop(requestedAt: string | null): void {
  const ageMs = Date.now() - Date.parse(requestedAt ?? '');
  observe('sandflow_failing_stop_seconds', 'How long stops have failed, at each look at one', ageMs, {});
}

export function observePhase(phase: string, ms: number): void {
  observe('sandflow_phase_seconds', 'How long jobs and items were in a phase, at its end', ms, { phase });
}

/** @param part `reserved`: the longest time that a new machine may run; `spent`: how long it ran */
export function countMachineTime(part: 'reserved' | 'spent', type: string | null | undefined, ms: number): void {
  const known = machineSizes.find((size) => size === type) ?? 'default';
  const seconds = Math.round(machineSeconds(known, ms));
  count('sandflow_machine_seconds', 'Weighted machine-seconds of jobs and items', { part }, seconds);
}

/** The label is an id: only few batches have a budget. */
export function setBudgetLeft(batch: string, seconds: number): void {
  metricMeter
    .createGauge('sandflow_batch_budget_left_seconds', 'int', undefined, 'Machine-seconds left of the budget')
    .set(Math.max(0, Math.round(seconds)), { batch });
}

function count(name: string, description: string, labels: Readonly<Record<string, string>>, by = 1): void {
  metricMeter.createCounter(name, undefined, description).add(by, labels);
}

/** The clocks of the service and of workers may differ, and a time may be unreadable. */
function observe(name: string, description: string, ms: number, labels: Readonly<Record<string, string>>): void {
  if (Number.isNaN(ms)) return;
  metricMeter.createHistogram(name, 'float', undefined, description).record(Math.max(0, ms) / 1_000, labels);
}
