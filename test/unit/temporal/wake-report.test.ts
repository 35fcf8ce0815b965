import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateShare, reportWakes } from '../../../src/workflow-client/jobs/wake-report.js';
import type { Wake } from '../../../workflows/index.js';

const wake = (by: Wake['by'], over: Partial<Wake> = {}): Wake => ({
  waitedFor: 'usable',
  by,
  event: by === 'webhook' ? 'sandbox.ready' : null,
  lagMs: by === 'webhook' ? 100 : null,
  waitedMs: 500,
  at: '2026-01-01T00:00:00.000Z',
  ...over,
});

describe('reportWakes', () => {
  it('counts only the wake that ended each wait', () => {
    const polls = [wake('safety_poll', { waitedMs: 500 }), wake('safety_poll', { waitedMs: 1_500 })];
    const report = reportWakes([
      [...polls, wake('webhook', { waitedMs: 2_000 }), wake('safety_poll', { waitedFor: 'archived' })],
    ]);
    expect(report).toMatchObject({ jobs: 1, waits: 2, byWebhook: 1, bySafetyPoll: 1 });
  });

  it('tells two waits of the same kind apart, because the second begins anew', () => {
    const twice = [wake('webhook', { waitedMs: 900 }), wake('safety_poll', { waitedMs: 300 })];
    expect(reportWakes([twice])).toMatchObject({ waits: 2, byWebhook: 1, bySafetyPoll: 1 });
  });

  it('leaves out waits that a deadline ended, and counts jobs that it cannot read', () => {
    expect(reportWakes([[wake('deadline')], null])).toEqual({
      jobs: 1,
      unreadable: 1,
      waits: 0,
      byWebhook: 0,
      bySafetyPoll: 0,
      loss: null,
      lagMs: null,
    });
  });

  it('states the median lag and the lag that 95 % of the events keep', () => {
    const results = Array.from({ length: 100 }, (_, at) => [wake('webhook', { lagMs: at + 1 })]);
    expect(reportWakes(results).lagMs).toEqual({ p50: 50, p95: 95 });
    expect(reportWakes([[wake('webhook', { lagMs: 7 })]]).lagMs).toEqual({ p50: 7, p95: 7 });
  });
});

describe('estimateShare', () => {
  it('is a share inside its bounds, which are narrower the more was counted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (of, drawn) => {
        const count = Math.round(drawn * of);
        const { share, low, high } = estimateShare(count, of);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(share + 1e-12);
        expect(high).toBeGreaterThanOrEqual(share - 1e-12);
        expect(high).toBeLessThanOrEqual(1);
        const more = estimateShare(count * 100, of * 100);
        expect(more.high - more.low).toBeLessThan(high - low);
      }),
    );
  });

  it('claims no certainty after few waits without a loss', () => {
    expect(estimateShare(0, 10)).toMatchObject({ share: 0, low: 0 });
    expect(estimateShare(0, 10).high).toBeCloseTo(0.2775, 3);
    expect(estimateShare(3, 10)).toMatchObject({ share: 0.3 });
    expect(estimateShare(3, 10).low).toBeCloseTo(0.1078, 3);
    expect(estimateShare(3, 10).high).toBeCloseTo(0.6032, 3);
  });
});
