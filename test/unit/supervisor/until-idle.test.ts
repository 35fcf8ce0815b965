import { describe, expect, it, vi } from 'vitest';
import { untilIdle } from '../../../src/supervisor/stack-watch.js';

const never = new AbortController().signal;

describe('an idle stack', () => {
  it('has had no client and no open job for the whole time', async () => {
    const openJobs = vi.fn(async () => 0);
    const startedAt = Date.now();
    expect(await untilIdle({ clients: () => 0, openJobs, idleMs: 100, signal: never })).toBe(true);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(100);
  });

  it('counts again after a client or a job, and treats an error as a job', async () => {
    const answers = [async () => 0, async () => 1, () => Promise.reject(new Error('no answer')), async () => 0];
    const looksAt: number[] = [];
    const openJobs = () => {
      const answer = answers[looksAt.length] ?? (async () => 0);
      looksAt.push(Date.now());
      return answer();
    };
    let visits = 3;
    const clients = () => (visits-- > 0 ? 1 : 0);
    expect(await untilIdle({ clients, openJobs, idleMs: 80, signal: never })).toBe(true);
    // One quiet check, then two busy ones, then quiet ones for at least idleMs.
    expect(Date.now() - (looksAt[3] ?? Number.POSITIVE_INFINITY)).toBeGreaterThanOrEqual(80);
  });

  it('stays while it is kept, and says since when it has been idle', async () => {
    let kept = true;
    const seen: (number | undefined)[] = [];
    const onCheck = (since: number | undefined) => {
      seen.push(since);
      if (seen.length === 5) kept = false;
    };
    const idle = { clients: () => 0, openJobs: async () => 0, idleMs: 80, isKept: () => kept, onCheck, signal: never };
    expect(await untilIdle(idle)).toBe(true);
    expect(seen.slice(0, 5)).toEqual(Array(5).fill(undefined));
    expect(seen.at(-1)).toBeLessThanOrEqual(Date.now());
  });

  it('is no longer awaited when the stack is stopped', async () => {
    const controller = new AbortController();
    const waiting = untilIdle({ clients: () => 1, openJobs: async () => 0, idleMs: 10, signal: controller.signal });
    controller.abort();
    expect(await waiting).toBe(false);
  });
});
