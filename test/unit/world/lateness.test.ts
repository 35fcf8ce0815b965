import { describe, expect, it } from 'vitest';
import { judgeTimes, mostLostMs } from '../../world/oracle/lateness.js';
import { missedTime } from '../../world/oracle/missed-time.js';
import type { Broken, WorldRecord } from '../../world/oracle/record.js';
import type { Late } from '../../world/stack/lateness.js';

const second = 1_000;
/** One step of so many seconds that came so late. */
const step = (fromS: number, untilS: number, lateS = untilS - fromS): Late => ({
  of: 'timer',
  fromMs: fromS * second,
  untilMs: untilS * second,
  lateMs: lateS * second,
});
const missed = (missedS: number, withinS?: number): Broken => ({
  promise: 'an undisturbed job completes',
  job: 'j1',
  what: 'ended deadline_exceeded',
  late: {
    fromMs: 100 * second,
    untilMs: 160 * second,
    missedMs: missedS * second,
    ...(withinS !== undefined && { withinMs: withinS * second }),
  },
});
const isExcused = (broken: Broken, measured: readonly Late[]) => judgeTimes([broken], measured).excused.length === 1;

describe('a broken promise of time', () => {
  it('is excused if the machine was late in its interval, by a comparable time', () => {
    const lateMachine = [step(110, 130), step(140, 150)];
    const { broken, excused } = judgeTimes([missed(40)], lateMachine);
    expect(broken).toEqual([]);
    expect(excused).toEqual([{ ...missed(40), lostMs: 30 * second }]);
  });

  it.each([
    ['on a quiet machine', missed(40), []],
    ['if the machine was late by less', missed(40), [step(110, 139)]],
    ['if it was late before the interval', missed(40), [step(10, 90)]],
    ['if it was late after the interval', missed(40), [step(161, 300)]],
    ['if most of it was before the interval', missed(40), [step(60, 110)]],
    ['if many small delays are less', missed(40), [step(100, 130, 5), step(130, 160, 5)]],
    ['if the work had no time to spare, and the machine was hardly late', missed(0), [step(110, 110.5)]],
    [
      'if it was late in another stretch of the interval',
      missed(7.5, 15),
      [step(105, 108), step(125, 128), step(150, 153)],
    ],
  ])('remains %s', (_, broken, measured) => {
    expect(judgeTimes([broken], measured)).toEqual({ broken: [broken], excused: [] });
  });

  it('counts a step by its part in the interval', () => {
    expect(mostLostMs([step(90, 110, 10)], { fromMs: 100 * second, untilMs: 160 * second })).toBe(5 * second);
  });

  it('is excused by one late stretch that is as long as what was missed', () => {
    expect(isExcused(missed(7.5, 15), [step(120, 126)])).toBe(true);
    expect(isExcused(missed(7.5, 15), [step(105, 108), step(150, 153)])).toBe(false);
  });
});

it('any other broken promise remains, however late the machine was', () => {
  const { late: _, ...twice } = { ...missed(1), promise: 'no prompt twice', what: 'accepted 2 times' };
  const { broken, excused } = judgeTimes([twice, missed(10)], [step(100, 160)]);
  expect(broken).toEqual([twice]);
  expect(excused).toHaveLength(1);
});

it('a command that gave up is judged by its whole patience, however long the job took', () => {
  const outcome = 'not_started: The service at http://127.0.0.1:1 cannot be reached for 30 s: No response';
  const played = new Map([['j1', { fromMs: 100 * second, untilMs: 200 * second }]]);
  const record = { plan: { jobs: [{ kind: 'command-line', key: 'j1', workSeconds: 3 }], troubles: [] }, played };
  const ofRecord = (said: string) =>
    missedTime({ ...record, struck: new Set() } as unknown as WorldRecord, { job: 'j1', outcome: said, jobs: [] });
  expect(ofRecord(outcome)).toEqual({
    ...{ fromMs: 100 * second, untilMs: 200 * second },
    ...{ missedMs: 30 * second, withinMs: 30 * second },
  });
  expect(ofRecord('not_started: Temporal at 127.0.0.1:1 cannot be reached.')).toMatchObject({
    ...{ missedMs: 10 * second, withinMs: 10 * second },
  });
  expect(ofRecord('not_started: another server answers')).toBeUndefined();
});

it('a batch whose source was not prepared in its time is judged by that time', () => {
  const played = new Map([['j1', { fromMs: 100 * second, untilMs: 180 * second }]]);
  const plan = { jobs: [{ kind: 'batch', key: 'j1', items: 4, concurrency: 2, tight: false }], troubles: [] };
  const missedBy = (code: string) => {
    const told = { job: 'j1', outcome: 'source_failed', error: { code, message: '', details: {} }, jobs: [] };
    return missedTime({ plan, played, struck: new Set() } as unknown as WorldRecord, told as never);
  };
  expect(missedBy('deadline_exceeded')).toEqual({
    ...{ fromMs: 100 * second, untilMs: 180 * second },
    ...{ missedMs: 60 * second, withinMs: 60 * second },
  });
  expect(missedBy('forbidden')).toBeUndefined();
});

it('each worker that died took the time until it was replaced from what a job had to spare', () => {
  const played = new Map([['j1', { fromMs: 100 * second, untilMs: 165 * second }]]);
  const death = (key: string) => ({ kind: 'death', part: 'worker', afterCalls: 1, key });
  const job = {
    kind: 'run',
    key: 'j1',
    deadlineMs: 60_000,
    prompts: 1,
    workSeconds: 0,
    commands: 0,
    commandSeconds: 0,
  };
  const plan = { jobs: [job], troubles: [death('t1'), death('t2'), death('t3')] };
  const missedAfter = (...struck: readonly string[]) => {
    const record = { plan, played, struck: new Set(struck) } as unknown as WorldRecord;
    return missedTime(record, { job: 'j1', outcome: 'deadline_exceeded', jobs: [] } as never)?.missedMs;
  };
  expect([missedAfter(), missedAfter('t1'), missedAfter('t1', 't2')]).toEqual([60_000, 30_000, 0]);
});
