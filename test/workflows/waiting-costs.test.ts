/** The history events of a waiting job: `docs/architecture.md` lists these figures per hour. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ApiError, type SandboxClient } from '../../src/client/index.js';
import { changedBy } from './changed-client.js';
import { createStand, type Stand, script, shortTiming } from './workflow-harness.js';

let stand: Stand;
let change: Partial<SandboxClient> = {};
beforeAll(async () => {
  stand = await createStand({ through: changedBy(() => change) });
});
afterEach(() => {
  change = {};
});
afterAll(() => stand.close());

async function eventsOf(over: Parameters<Stand['start']>[0]): Promise<number> {
  const handle = await stand.start({ timing: { ...shortTiming, safetyPollGrowth: 1 }, ...over });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  return (await handle.fetchHistory()).events?.length ?? 0;
}

const refusals = 5;

it('a refused create costs at most 12 events', async () => {
  const plain = await eventsOf({});
  let left = refusals;
  change.createSandbox = (body, options) => {
    left -= 1;
    if (left < 0) return stand.api.createSandbox(body, options);
    const fields = {
      endpoint: 'createSandbox',
      status: 429,
      code: 'rate_limited',
      meaning: 'throttled_shortly',
    } as const;
    return Promise.reject(
      new ApiError('slow down', { ...fields, typed: true, requestId: null, retryAfterMs: 100, details: null }),
    );
  };
  const refused = await eventsOf({});
  expect((refused - plain) / refusals).toBeLessThanOrEqual(12);
});

it('a read of an awaited sandbox costs at most 8 events', async () => {
  await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
  await stand.fault({ kind: 'boot_error', recoverMs: 3_500 });
  const handle = await stand.start({
    timing: { ...shortTiming, safetyPollGrowth: 1, safetyPollFirstMs: 500, errorGraceMs: 20_000 },
  });
  const { wakes } = await handle.result();
  const looks = wakes.filter(({ by, waitedFor }) => by === 'safety_poll' && waitedFor !== 'archived').length;
  const plain = await eventsOf({});
  const events = (await handle.fetchHistory()).events?.length ?? 0;
  expect(looks).toBeGreaterThan(2);
  expect((events - plain) / looks).toBeLessThanOrEqual(8);
});

it('a renewal of the auto-stop while a prompt runs costs at most 13 events', async () => {
  const seconds = 6;
  const plain = await eventsOf({ prompts: [{ prompt: script(`sleep ${seconds}`) }] });
  const renewing = await eventsOf({ prompts: [{ prompt: script(`sleep ${seconds}`) }], ttlSeconds: 2 });
  expect((renewing - plain) / seconds).toBeLessThanOrEqual(13);
});
