import { describe, expect, it } from 'vitest';
import { reportWakes } from '../../../src/workflow-client/jobs/wake-report.js';
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
    expect(report).toEqual({ waits: 2, byWebhook: 1, bySafetyPoll: 1 });
  });

  it('tells two waits of the same kind apart, because the second begins anew', () => {
    const twice = [wake('webhook', { waitedMs: 900 }), wake('safety_poll', { waitedMs: 300 })];
    expect(reportWakes([twice])).toEqual({ waits: 2, byWebhook: 1, bySafetyPoll: 1 });
  });

  it('leaves out waits that a deadline ended, and jobs that it cannot read', () => {
    expect(reportWakes([[wake('deadline')], null])).toEqual({ waits: 0, byWebhook: 0, bySafetyPoll: 0 });
  });
});
