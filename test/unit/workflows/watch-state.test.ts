import { describe, expect, it } from 'vitest';
import {
  emptyWatch,
  expire,
  leasedBy,
  nextExpiryMs,
  register,
  relay,
  unregister,
} from '../../../workflows/watch-state.js';

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const registration = (workflowId: string, seconds: number, lease = true) => ({
  workflowId,
  expiresAt: at(seconds),
  lease,
});

describe('the state of a watch', () => {
  it('renews a registration in place', () => {
    const state = register(register(emptyWatch, registration('a', 10)), registration('a', 20));
    expect(state.registrations).toEqual([registration('a', 20)]);
    expect(nextExpiryMs(state)).toBe(20_000);
  });

  it('forgets who did not renew in time', () => {
    const state = register(register(emptyWatch, registration('a', 10)), registration('b', 20));
    expect(expire(state, 15_000).registrations.map(({ workflowId }) => workflowId)).toEqual(['b']);
    expect(nextExpiryMs(expire(state, 25_000))).toBeUndefined();
  });

  it('counts leases of others only, and only leases', () => {
    let state = register(emptyWatch, registration('a', 10));
    state = register(state, registration('b', 10, false));
    expect(leasedBy(state, 'a')).toEqual([]);
    expect(leasedBy(state, 'c')).toEqual(['a']);
    expect(leasedBy(unregister(state, 'a'), 'c')).toEqual([]);
  });

  it('relays an event once', () => {
    const once = relay(emptyWatch, 'evt_1');
    expect(once).not.toBe(emptyWatch);
    expect(relay(once, 'evt_1')).toBe(once);
  });

  it('drops a claim that has expired', () => {
    const state = { ...emptyWatch, claim: { claimant: 'a', expiresAt: at(10) } };
    expect(expire(state, 5_000).claim).not.toBeNull();
    expect(expire(state, 10_000).claim).toBeNull();
  });
});
