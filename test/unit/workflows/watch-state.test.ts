import { describe, expect, it } from 'vitest';
import {
  claim,
  emptyWatch,
  expire,
  lease,
  nextExpiryMs,
  receivers,
  register,
  relay,
  release,
  unregister,
  type WatchState,
} from '../../../workflows/watch/leases-and-claims.js';

const leased = (state: WatchState, workflowId: string, over: { use?: 'work' | 'fork'; nowMs?: number } = {}) =>
  lease(state, { workflowId, use: over.use ?? 'work', lastsMs: 10_000 }, over.nowMs ?? 0);
const claimed = (
  state: WatchState,
  claimant: string,
  over: { ends?: 'work' | 'any'; purpose?: string; nowMs?: number } = {},
) => {
  const { ends = 'any', purpose = 'end', nowMs = 0 } = over;
  return claim(state, { claimant, purpose, ends, lastsMs: 10_000 }, nowMs);
};
const granted = { granted: true, claimedBy: [], leasedBy: [] };

describe('the state of a watch', () => {
  it('counts from the request by its own clock, regardless of the requester’s', () => {
    const { state } = leased(emptyWatch, 'a', { nowMs: 1_000_000 });
    expect(nextExpiryMs(state)).toBe(1_010_000);
    expect(expire(state, 1_009_999)).toEqual(state);
    expect(nextExpiryMs(expire(state, 1_010_000))).toBeUndefined();
  });

  it('uses its own clock for claims and registrations too', () => {
    const { state } = claimed(emptyWatch, 'a', { nowMs: 1_000_000 });
    expect(nextExpiryMs(state)).toBe(1_010_000);
    expect(leased(state, 'b', { nowMs: 1_009_999 }).answer.granted).toBe(false);
    expect(leased(state, 'b', { nowMs: 1_010_000 }).answer.granted).toBe(true);
    expect(nextExpiryMs(register(emptyWatch, { workflowId: 'a', lastsMs: 20_000 }, 1_000_000))).toBe(1_020_000);
  });

  it('renews a registration in place, and keeps one lease', () => {
    const { state } = leased(leased(emptyWatch, 'a').state, 'a', { nowMs: 5_000 });
    expect(state.registrations).toEqual([{ workflowId: 'a', lease: 'work', expiresAtMs: 15_000 }]);
    const renewed = register(state, { workflowId: 'a', lastsMs: 20_000 }, 5_000);
    expect(renewed.registrations).toEqual([{ workflowId: 'a', lease: 'work', expiresAtMs: 25_000 }]);
  });

  it('drops a registration that was not renewed in time', () => {
    const { state } = leased(leased(emptyWatch, 'a').state, 'b', { nowMs: 5_000 });
    expect(expire(state, 12_000).registrations.map(({ workflowId }) => workflowId)).toEqual(['b']);
  });

  it('refuses a claim while another workflow holds a lease, and a lease while another holds a claim', () => {
    const { state } = leased(emptyWatch, 'a');
    expect(claimed(state, 'b')).toEqual({ state, answer: { granted: false, claimedBy: [], leasedBy: ['a'] } });
    expect(claimed(state, 'a').answer, 'its own lease does not stand in its way').toEqual(granted);
    const { state: taken } = claimed(unregister(state, 'a'), 'b');
    expect(leased(taken, 'a')).toEqual({ state: taken, answer: { granted: false, claimedBy: ['b'], leasedBy: [] } });
    expect(claimed(taken, 'c').answer).toEqual({ granted: false, claimedBy: ['b'], leasedBy: [] });
    expect(leased(taken, 'b').answer, 'its own claim does not, either').toEqual(granted);
    expect(leased(taken, 'a', { nowMs: 10_000 }).answer, 'a claim expires').toEqual(granted);
    expect(leased(release(taken, { claimant: 'b', purpose: 'end' }), 'a').answer).toEqual(granted);
  });

  it('lets a stop end a sandbox that is forked from, and not one that is worked in', () => {
    const { state } = leased(emptyWatch, 'a', { use: 'fork' });
    expect(claimed(state, 'b', { ends: 'work' }).answer).toEqual(granted);
    expect(claimed(state, 'b', { ends: 'any' }).answer.leasedBy).toEqual(['a']);
    const { state: both } = leased(state, 'c');
    expect(claimed(both, 'b', { ends: 'work' }).answer.leasedBy).toEqual(['c']);
  });

  it('lets a claim that ends work end the work of its claimant too, who goes on receiving events', () => {
    const { state: ending } = claimed(leased(emptyWatch, 'a').state, 'a', { ends: 'work' });
    const waiting = release(ending, { claimant: 'a', purpose: 'end' });
    expect(claimed(waiting, 'b', { ends: 'work' }).answer).toEqual(granted);
    expect(receivers(waiting)).toEqual(['a']);
    const { state: deleting } = claimed(leased(emptyWatch, 'a').state, 'a', { ends: 'any' });
    const kept = release(deleting, { claimant: 'a', purpose: 'end' });
    expect(claimed(kept, 'b', { ends: 'work' }).answer.leasedBy, 'a deletion may have failed').toEqual(['a']);
  });

  it('keeps the claims of one claimant apart, so that each is released alone', () => {
    const { state } = claimed(claimed(emptyWatch, 'a', { purpose: 'one' }).state, 'a', { purpose: 'two' });
    const one = release(state, { claimant: 'a', purpose: 'two' });
    expect(leased(one, 'b').answer.granted).toBe(false);
    expect(release(state, { claimant: 'b', purpose: 'one' })).toEqual(state);
  });

  it('does not treat a registration as an obstacle', () => {
    const state = register(emptyWatch, { workflowId: 'a', lastsMs: 10_000 }, 0);
    expect(claimed(state, 'b').answer).toEqual(granted);
  });

  it('relays an event once', () => {
    const once = relay(emptyWatch, 'evt_1');
    expect(once).not.toBe(emptyWatch);
    expect(relay(once, 'evt_1')).toBe(once);
  });

  it('is limited, whatever is requested', () => {
    let state = emptyWatch;
    for (let at = 0; at < 1_500; at += 1) state = relay(leased(state, `job-${at}`).state, `evt_${at}`);
    expect(state.registrations).toHaveLength(1_000);
    expect(state.relayed).toHaveLength(200);
    expect(leased(state, 'job-999').answer.granted, 'who is known renews').toBe(true);
    expect(leased(state, 'job-1000').answer).toMatchObject({ granted: false });
    expect(claimed(state, 'b').answer.leasedBy).toHaveLength(10);
  });

  it('is limited for those who register without a lease too, and drops nobody who is known', () => {
    const at = (state: WatchState, job: number, lastsMs = 60_000) =>
      register(state, { workflowId: `job-${job}`, lastsMs }, 1_000_000);
    let state = leased(emptyWatch, 'holder', { nowMs: 1_000_000 }).state;
    for (let job = 0; job < 1_500; job += 1) state = at(state, job);
    expect(receivers(state)).toHaveLength(1_000);
    expect(receivers(at(state, 1_499))).not.toContain('job-1499');
    expect(state.registrations.find(({ workflowId }) => workflowId === 'holder')?.lease).toBe('work');
    const renewed = at(state, 7, 90_000).registrations.find(({ workflowId }) => workflowId === 'job-7');
    expect(renewed?.expiresAtMs).toBe(1_090_000);
  });
});
