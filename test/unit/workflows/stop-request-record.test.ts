import { describe, expect, it } from 'vitest';
import type { StopView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import type { StopRecord } from '../../../src/protocol/stop.js';
import {
  awaitNextStop,
  describeStop,
  newStopRecord,
  nextDueAtMs,
  recordStop,
  settleRecord,
  sharesStop,
  viewOfRecord,
} from '../../../workflows/stop/request-record.js';

const nowMs = Date.parse('2026-05-01T12:00:00.000Z');
const at = (seconds: number) => new Date(nowMs + seconds * 1_000).toISOString();
const request = { requestId: 'r1', deadlineMs: 60_000, alertAfterMs: 10_000 };
const record = (over: Partial<StopRecord> = {}): StopRecord => ({ ...newStopRecord(request, nowMs), ...over });
const stop = (over: Partial<StopView> = {}): StopView => ({
  id: 'stop_1',
  status: 'failing',
  requestedAt: at(0),
  lastAttemptAt: null,
  error: 'no disk',
  ...over,
});

describe('the next event of a request', () => {
  it('is its alert, and then its deadline', () => {
    expect(nextDueAtMs(record())).toBe(nowMs + 10_000);
    expect(nextDueAtMs(record({ alertedAtMs: nowMs + 10_000 }))).toBe(nowMs + 60_000);
  });

  it('is its deadline if no alert is wanted, or the alert would come later', () => {
    expect(nextDueAtMs(record({ request: { ...request, alertAfterMs: null } }))).toBe(nowMs + 60_000);
    expect(nextDueAtMs(record({ request: { ...request, alertAfterMs: 90_000 } }))).toBe(nowMs + 60_000);
  });
});

describe('failed attempts', () => {
  it('are counted by the time of the attempt, so one that is read twice counts once', () => {
    const one = record({ stopId: 'stop_1' });
    recordStop(one, stop({ lastAttemptAt: at(1) }), nowMs + 2_000);
    recordStop(one, stop({ lastAttemptAt: at(1) }), nowMs + 3_000);
    recordStop(one, stop({ lastAttemptAt: at(4), error: 'no net' }), nowMs + 5_000);
    expect(one.failed).toEqual({ since: at(1), attempts: 2, lastError: 'no net', lastAttemptAt: at(4) });
    expect(describeStop(one)).toBe(
      `The stop stop_1 is failing; 2 failed attempts seen since ${at(1)}, the last one: no net`,
    );
  });

  it('are those of the stop that the request waits for now, and not of the stop before', () => {
    const one = record({ stopId: 'stop_1' });
    recordStop(one, stop({ lastAttemptAt: at(1) }), nowMs + 2_000);
    recordStop(one, stop({ id: 'stop_2', status: 'pending', error: null }), nowMs + 3_000);
    expect(one.failed).toBeNull();
    recordStop(one, stop({ id: 'stop_2', lastAttemptAt: at(4) }), nowMs + 5_000);
    expect(one.failed).toMatchObject({ since: at(4), attempts: 1 });
    awaitNextStop(one, 'stop_2');
    recordStop(one, stop({ id: 'stop_3', lastAttemptAt: at(7) }), nowMs + 8_000);
    expect(one.failed).toMatchObject({ since: at(7), attempts: 1 });
    recordStop(one, null, nowMs + 9_000);
    expect(one.failed).toMatchObject({ attempts: 1 });
  });

  it('stay known when the stop is pending again or has completed', () => {
    const one = record({ stopId: 'stop_1' });
    recordStop(one, stop(), nowMs + 2_000);
    recordStop(one, stop({ status: 'pending', error: null }), nowMs + 3_000);
    expect(one).toMatchObject({ status: 'pending', failed: { since: at(2), attempts: 1, lastError: 'no disk' } });
  });

  it('are reported as none if none was seen, and an unaccepted stop says why', () => {
    expect(describeStop(record({ stopId: 'stop_1', status: 'pending' }))).toBe(
      'The stop stop_1 is pending; no failed attempt was seen.',
    );
    expect(describeStop(record())).toBe('The service has not accepted the stop yet.');
    const blocked = { reason: 'service_refuses', step: 'stop', since: at(0), message: 'unauthorized' } as const;
    expect(describeStop(record({ blocked }))).toBe('The service has not accepted the stop: unauthorized.');
  });
});

describe('the time of the request of a stop', () => {
  it('stays known when later reads no longer show it, and is forgotten with the stop', () => {
    const one = record();
    recordStop(one, stop(), nowMs);
    recordStop(one, stop({ status: 'completed', requestedAt: null }), nowMs);
    expect(one.requestedAt).toBe(at(0));
    recordStop(one, stop({ id: 'stop_2', requestedAt: null }), nowMs);
    expect(one.requestedAt).toBeNull();
  });
});

describe('an ended request', () => {
  it('keeps its first end', () => {
    const one = record({ stopId: 'stop_1' });
    settleRecord(one, { outcome: 'archived', kept: 'saved' }, nowMs + 1_000);
    settleRecord(one, { outcome: 'gone' }, nowMs + 2_000);
    expect(viewOfRecord(one)).toMatchObject({ phase: 'ended', outcome: 'archived', kept: 'saved', endedAt: at(1) });
  });

  it('is shown without the fields that only the workflow needs', () => {
    const one = record({ asked: { previousStopId: null }, requestedAt: at(0) });
    expect(viewOfRecord(one)).toMatchObject({ phase: 'asking', arrivedAt: at(0), deadlineAt: at(60) });
    for (const hidden of ['request', 'asked', 'requestedAt', 'arrivedAtMs'])
      expect(viewOfRecord(one)).not.toHaveProperty(hidden);
  });
});

describe('a request that finds the sandbox archived', () => {
  const late = record({ arrivedAtMs: nowMs + 1_000 });
  const other = (over: Partial<StopRecord>) => record({ stopId: 'stop_1', ...over });
  it.each([
    ['a request that still waits for this stop', other({}), true],
    ['one that it ended after the arrival', other({ outcome: 'archived', endedAtMs: nowMs + 2_000 }), true],
    ['one that had no more time', other({ outcome: 'still_failing', endedAtMs: nowMs + 2_000 }), true],
    ['one that it ended before the arrival', other({ outcome: 'archived', endedAtMs: nowMs + 500 }), false],
    ['one that found the same', other({ outcome: 'already_archived', endedAtMs: nowMs + 2_000 }), false],
    ['one that received another stop', other({ stopId: 'stop_0' }), false],
    ['one that has received none', other({ stopId: null }), false],
  ])('beside %s', (_, beside, isShared) => {
    expect(sharesStop(late, 'stop_1', [late, beside])).toBe(isShared);
  });
});
