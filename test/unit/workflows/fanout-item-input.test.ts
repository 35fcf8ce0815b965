import { describe, expect, it } from 'vitest';
import { fanoutPlaces } from '../../../src/addresses/fanout-addresses.js';
import type { ChunkInput, ItemSource } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, FanoutPolicy } from '../../../src/protocol/fanout/fanout-input.js';
import { itemInput } from '../../../workflows/fanout/chunk/item-input.js';
import { defaultFanoutIntervals } from '../../../workflows/shared/wait-intervals.js';
import { policy } from '../../workflows/fanout/policy.js';

const batch = { deployment: 'test', batchId: 'b', batchKey: '0198f000-0000-7000-8000-0123456789ab' };
const fork: ItemSource = { kind: 'fork', sandboxId: 'bx_22222222' };
const snapshot: ItemSource = { kind: 'create', body: { from: 'base', noEnv: true } };

function jobOf(source: ItemSource, settings: Partial<FanoutPolicy>, change: Partial<FanoutItem> = {}) {
  const chunk: ChunkInput = {
    ...{ ...batch, chunk: 0, firstIndex: 0, items: 1, attempt: 1, isFresh: true, retryFailed: false },
    ...{ sourceType: 'default', deadlineAtMs: 1, pace: defaultFanoutIntervals, source },
    policy: { ...policy, ...settings },
    grant: { seq: 1, running: 1, reservedSeconds: null, pausedUntilMs: 0, end: null } as never,
  };
  const item = { id: 'one', prompts: [{ prompt: 'p' }], ...change };
  const slot = { index: 0, item, generation: 1, lookFirst: false, queuedAt: '', toEnd: null };
  return itemInput(chunk, slot, fanoutPlaces(batch)).job;
}

describe('client rows: the job of an item', () => {
  it('starts when the sandbox is usable, in one conversation, as its source is', () => {
    expect(jobOf(fork, {})).toMatchObject({ waitFor: 'usable', conversations: 'one' });
    expect(jobOf(fork, {}).source).toEqual(fork);
    expect(jobOf(snapshot, {}).source).toEqual(snapshot);
  });

  it('has the settings of its batch', () => {
    const settings = { waitFor: 'hydrated', conversations: 'each', snapshots: false, monitoring: false } as const;
    expect(jobOf(fork, settings)).toMatchObject({ waitFor: 'hydrated', conversations: 'each' });
    expect(jobOf(fork, settings).source).toEqual({ ...fork, snapshots: false, monitoring: false });
    expect(jobOf(snapshot, settings).source).toEqual({
      kind: 'create',
      body: { from: 'base', noEnv: true, snapshots: false, monitoring: false },
    });
  });

  it('collects the patch that the item asks for', () => {
    expect(jobOf(fork, {}, { collectDiff: 'app' })).toMatchObject({ collectDiff: 'app' });
    expect(jobOf(fork, {})).not.toHaveProperty('collectDiff');
  });

  it('has the machine size of the item, or else that of the batch', () => {
    expect(jobOf(fork, { type: 'small' }).source).toEqual({ ...fork, type: 'small' });
    expect(jobOf(fork, { type: 'small' }, { type: 'large' }).source).toEqual({ ...fork, type: 'large' });
  });
});
