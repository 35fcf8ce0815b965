/** The history events of a waiting job: `docs/architecture.md` lists these figures per hour. */
import { expect, it } from 'vitest';
import { itemWorkflowId } from '../../../src/addresses/addresses.js';
import { ApiError } from '../../../src/client/index.js';
import { shareChangedStand } from '../../workflows/changed-stand.js';
import {
  archivedSandbox,
  chunkOf,
  fanoutInput,
  items,
  run,
  source,
  usableSandbox,
} from '../../workflows/fanout/fanout-harness.js';
import { heal } from '../../workflows/stop/stop-harness.js';
import { leaseAs, watchOf } from '../../workflows/watch/lease-harness.js';
import { deployment, type Stand, script, shortTiming } from '../../workflows/workflow-harness.js';

// On a busy machine a prompt may last longer than a moment, which costs six events.
const { stand, change } = shareChangedStand({
  worker: { follow: { minIntervalMs: 100, briefFollowMs: 30_000 } },
});

async function eventsOf(over: Parameters<Stand['start']>[0]): Promise<number> {
  const handle = await stand.start({ timing: { ...shortTiming, safetyPollGrowth: 1 }, ...over });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  return (await handle.fetchHistory()).events?.length ?? 0;
}

const refusals = 3;

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

/** Compares two waits, because the wake-up by `sandbox.error` has a cost of its own. */
it('a read of an awaited sandbox costs at most 12 events', async () => {
  const wait = async (recoverMs: number) => {
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
    await stand.fault({ kind: 'boot_error', recoverMs });
    const handle = await stand.start({
      timing: { ...shortTiming, safetyPollGrowth: 1, safetyPollFirstMs: 500, errorGraceMs: 40_000 },
    });
    const { wakes } = await handle.result();
    const reads = wakes.filter(({ by, waitedFor }) => by === 'safety_poll' && waitedFor !== 'archived').length;
    return { reads, events: (await handle.fetchHistory()).events?.length ?? 0 };
  };
  const short = await wait(1_000);
  const long = await wait(6_000);
  expect(long.reads).toBeGreaterThan(short.reads + 1);
  expect((long.events - short.events) / (long.reads - short.reads)).toBeLessThanOrEqual(12);
});

it('a renewal of the auto-stop while a prompt runs costs at most 13 events', async () => {
  const seconds = 6;
  const plain = await eventsOf({ prompts: [{ prompt: script(`sleep ${seconds}`) }] });
  const renewing = await eventsOf({ prompts: [{ prompt: script(`sleep ${seconds}`) }], ttlSeconds: 2 });
  expect((renewing - plain) / seconds).toBeLessThanOrEqual(13);
});

it('a read that the service does not answer costs at most 11 events', async () => {
  const sandboxId = await usableSandbox(stand);
  const existing = { source: { kind: 'existing', sandboxId }, end: 'keep' } as const;
  const plain = await eventsOf(existing);
  // An activity repeats a read twice by itself.
  let left = 2 * 3;
  change.getSandbox = (id, options) => {
    left -= 1;
    if (left < 0) return stand.api.getSandbox(id, options);
    const page = { endpoint: 'getSandbox', status: 502, code: 'http_502', meaning: 'unavailable' } as const;
    const fields = { typed: false, requestId: null, retryAfterMs: null, details: null };
    return Promise.reject(new ApiError('a page', { ...page, ...fields }));
  };
  const unanswered = await eventsOf(existing);
  expect(left).toBeLessThan(0);
  expect(unanswered).toBeGreaterThan(plain);
  expect((unanswered - plain) / 2).toBeLessThanOrEqual(11);
});

it('a renewal of a lease costs a job at most 11 events, and the watch at most 5', async () => {
  const sandboxId = await usableSandbox(stand);
  const seconds = 6;
  const existing = {
    source: { kind: 'existing', sandboxId },
    end: 'keep',
    prompts: [{ prompt: script(`sleep ${seconds}`) }],
  } as const;
  const plain = await eventsOf(existing);
  const renewing = await eventsOf({
    ...existing,
    timing: { ...shortTiming, safetyPollGrowth: 1, renewLeaseEveryMs: 1_000 },
  });
  expect(renewing).toBeGreaterThan(plain);
  expect((renewing - plain) / seconds).toBeLessThanOrEqual(11);

  const watched = 'bx_renewal1';
  const eventsOfWatch = async () => (await watchOf(stand, watched).fetchHistory()).events?.length ?? 0;
  await leaseAs(stand, watched, 'borrower');
  const before = await eventsOfWatch();
  for (let renewals = 0; renewals < 10; renewals += 1) await leaseAs(stand, watched, 'borrower');
  expect(((await eventsOfWatch()) - before) / 10).toBeLessThanOrEqual(5);
  await watchOf(stand, watched).terminate();
});

it('a throttled fork costs its item at most 12 events, and each report 5 more, and 23 in its chunk', async () => {
  const sandboxId = await archivedSandbox(stand);
  const eventsOfBatch = async (throttled: number) => {
    if (throttled > 0) {
      const refusal = { kind: 'error', endpoint: 'forkSandbox', status: 429, code: 'rate_limited' } as const;
      await stand.fault({ ...refusal, times: throttled });
    }
    const input = fanoutInput(source(sandboxId));
    expect(await run(stand, input, items(1))).toMatchObject({ counts: { completed: 1 } });
    await heal(stand);
    const item = stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 0));
    const lengths = [item, chunkOf(stand, input, 0)].map(async (of) => (await of.fetchHistory()).events?.length ?? 0);
    return Promise.all(lengths);
  };
  const [plainItem = 0, plainChunk = 0] = await eventsOfBatch(0);
  const [item = 0, chunk = 0] = await eventsOfBatch(3);
  expect(item).toBeGreaterThan(plainItem);
  // It reports the first refusal and the second.
  expect(item - plainItem).toBeLessThanOrEqual(3 * 12 + 2 * 5);
  expect((chunk - plainChunk) / 2).toBeLessThanOrEqual(23);
});
