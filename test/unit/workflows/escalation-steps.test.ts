import { describe, expect, it } from 'vitest';
import { unsavedWork } from '../../../src/contract/workflow-safe/preserved-work.js';
import { parseEscalation } from '../../../src/protocol/escalation.js';
import type { StopRecord } from '../../../src/protocol/stop.js';
import { atRiskOf, dueStep, isTooLate, viewOfSteps } from '../../../workflows/stop/escalation-steps.js';
import { describeStop, newStopRecord, nextDueAtMs, recordStop } from '../../../workflows/stop/request-record.js';

const nowMs = Date.parse('2026-05-01T12:00:00.000Z');
const minute = 60_000;
const hour = 60 * minute;
const iso = (ms: number) => new Date(ms).toISOString();
const escalate = parseEscalation('30m: resume-and-stop, 2h: notify, 6h: delete', { mayDelete: true });

/** The stop was accepted a minute ago, and an attempt has failed. */
function failing(over: { readonly acceptedAtMs?: number; readonly lastAttemptAt?: string | null } = {}): StopRecord {
  const record = newStopRecord({ requestId: 'r1', deadlineMs: 10 * hour, alertAfterMs: null, escalate }, nowMs);
  const { acceptedAtMs = nowMs - minute, lastAttemptAt = null } = over;
  const stop = { id: 'stop_1', requestedAt: iso(acceptedAtMs), error: 'no disk', lastAttemptAt };
  recordStop(record, { ...stop, status: 'failing' }, nowMs);
  return record;
}

function end(record: StopRecord, index: number, atMs: number): void {
  const step = record.steps?.[index];
  if (!step) throw new Error(`There is no step ${index}.`);
  step.state = 'done';
  step.endedAtMs = atMs;
}

describe('a step is due', () => {
  it('at its time after the acceptance of the stop, one after the other', () => {
    const record = failing();
    const acceptedAtMs = nowMs - minute;
    expect(dueStep(record)?.atMs).toBe(acceptedAtMs + 30 * minute);
    expect(nextDueAtMs(record)).toBe(acceptedAtMs + 30 * minute);
    end(record, 0, acceptedAtMs + 30 * minute);
    expect(dueStep(record)?.atMs).toBe(acceptedAtMs + 2 * hour);
    end(record, 1, acceptedAtMs + 2 * hour);
    end(record, 2, acceptedAtMs + 6 * hour);
    expect(dueStep(record)).toBeUndefined();
  });

  it('in the distance to the step before, if the request came late', () => {
    const record = failing({ acceptedAtMs: nowMs - 24 * hour });
    expect(dueStep(record)?.atMs).toBeLessThan(nowMs);
    end(record, 0, nowMs);
    expect(dueStep(record)?.atMs).toBe(nowMs + 90 * minute);
    end(record, 1, nowMs + 90 * minute);
    expect(dueStep(record)?.atMs).toBe(nowMs + 90 * minute + 4 * hour);
  });

  it('only once an attempt has failed, unless it only notifies', () => {
    const record = failing();
    recordStop(record, { id: 'stop_1', status: 'pending', requestedAt: null, error: null }, nowMs);
    expect(dueStep(record)).toBeUndefined();
    recordStop(
      record,
      { id: 'stop_1', status: 'pending', requestedAt: null, error: null, lastAttemptAt: iso(nowMs) },
      nowMs,
    );
    expect(dueStep(record)?.step.action).toBe('resume-and-stop');
    end(record, 0, nowMs);
    recordStop(record, { id: 'stop_1', status: 'pending', requestedAt: null, error: null }, nowMs);
    expect(dueStep(record)?.step.action).toBe('notify');
  });

  it('never before the stop is accepted, nor during a deletion', () => {
    const record = failing();
    expect(dueStep({ ...record, stopId: null })).toBeUndefined();
    expect(dueStep({ ...record, isDeleting: true })).toBeUndefined();
  });

  it('again after a refusal, and whatever became of the stop if its call may have been accepted', () => {
    const record = failing();
    const [step] = record.steps ?? [];
    if (!step) throw new Error('There is no step.');
    step.retryAtMs = nowMs + hour;
    expect(dueStep(record)?.atMs).toBe(nowMs + hour);
    step.sent = { previousStopId: 'stop_1' };
    record.isFailing = false;
    expect(dueStep(record)?.step).toBe(step);
    step.announcedAtMs = nowMs;
    expect(isTooLate(record, step, nowMs + 89 * minute)).toBe(false);
    expect(isTooLate(record, step, nowMs + 90 * minute)).toBe(true);
  });

  it('by the clock of this workflow if the service names no time, or one to come', () => {
    for (const acceptedAtMs of [Number.NaN, nowMs + hour]) {
      const record = newStopRecord({ requestId: 'r1', deadlineMs: hour, alertAfterMs: null, escalate }, nowMs);
      const requestedAt = Number.isNaN(acceptedAtMs) ? 'soon' : iso(acceptedAtMs);
      recordStop(record, { id: 'stop_1', status: 'failing', requestedAt, error: null }, nowMs);
      expect(dueStep(record)?.atMs).toBe(nowMs + 30 * minute);
    }
  });
});

describe('what people see of the steps', () => {
  it('are the times to come, and then what happened', () => {
    const record = failing();
    expect(viewOfSteps(record).map(({ dueAt }) => dueAt)).toEqual(
      [30 * minute, 2 * hour, 6 * hour].map((after) => iso(nowMs - minute + after)),
    );
    end(record, 0, nowMs + hour);
    expect(viewOfSteps(record)[0]).toMatchObject({ state: 'done', dueAt: null, endedAt: iso(nowMs + hour) });
    expect(describeStop(record)).toContain('Its escalation: "30m: resume-and-stop" done.');
    expect(viewOfSteps(newStopRecord({ requestId: 'r1', deadlineMs: 1, alertAfterMs: null }, nowMs))).toEqual([]);
  });

  it('are what may be lost', () => {
    const record = failing();
    const [resume, notify, remove] = record.steps ?? [];
    if (!resume || !notify || !remove) throw new Error('There are no steps.');
    const shown = { snapshots: true, snapshotAvailable: true, snapshotVerifiedAt: null, lastSnapshotStatus: 'failed' };
    record.unsaved = unsavedWork({ ...shown, snapshotCompletedAt: iso(nowMs) });
    expect(atRiskOf(record, notify)).toBeNull();
    expect(atRiskOf(record, resume)).toBe(
      `Its last snapshot is of ${iso(nowMs)}: work after that is not saved. The resume may lose it.`,
    );
    expect(atRiskOf(record, remove)).toContain('The deletion takes the sandbox and its snapshots. Its last snapshot');
    record.unsaved = null;
    expect(atRiskOf(record, resume)).toBe('Work that is not in its last snapshot may be lost.');
    expect(atRiskOf(record, remove)).toBe('The deletion takes the sandbox and its snapshots.');
  });
});
