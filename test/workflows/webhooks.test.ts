import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deliveryHeadersFor } from '../../src/webhook/index.js';
import { sandboxEventSignal } from '../../workflows/index.js';
import { progressOf } from './job-progress.js';
import { heal } from './stop/stop-harness.js';
import { createStand, type Stand, script, withoutPolls } from './workflow-harness.js';

let stand: Stand;
beforeEach(async () => {
  stand = await createStand();
});
afterEach(() => stand.close());

describe('webhooks', () => {
  it('S9: that are all lost cost safety polls and never the job', async () => {
    await stand.fault({ kind: 'webhook_drop', times: 100 });
    const result = await (await stand.start({})).result();
    expect(result.outcome).toBe('completed');
    expect(new Set(result.wakes.map(({ waitedFor }) => waitedFor))).toEqual(new Set(['usable', 'archived']));
    expect(new Set(result.wakes.map(({ by }) => by))).toEqual(new Set(['safety_poll']));
  });

  it('that arrive twice and out of order change nothing', async () => {
    await stand.fault({ kind: 'webhook_double', times: 100 });
    await stand.fault({ kind: 'webhook_reorder', times: 1, ms: 500 });
    const handle = await stand.start({});
    expect((await handle.result()).outcome).toBe('completed');
    expect(stand.service.books.prompts()).toHaveLength(1);
    expect(stand.service.books.stops()).toHaveLength(1);
  });

  it('S6: a late sandbox.archived of an earlier stop does not end the wait for this one', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const handle = await stand.start({ timing: withoutPolls });
    const phase = async () => (await progressOf(handle)).phase;
    await expect.poll(phase).toBe('waiting_for_archive');
    const { sandboxId } = await progressOf(handle);
    const wokenBy = async () =>
      (await progressOf(handle)).wakes.filter(({ event }) => event === 'sandbox.archived').length;
    // The second one wakes the job after the read that the first one caused.
    for (const count of [1, 2]) {
      await handle.signal(sandboxEventSignal, {
        id: `evt_of_an_earlier_stop_${count}`,
        type: 'sandbox.archived',
        createdAt: new Date(Date.now() - 60_000).toISOString(),
        sandboxId: sandboxId ?? '',
        sandboxName: '',
      });
      await expect.poll(wokenBy).toBe(count);
    }
    await heal(stand);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed' } });
    // It triggered a read and no more. The job saw the end after the end, by its own event or a poll.
    expect(result.wakes.slice(0, -1).map(({ event }) => event)).toContain('sandbox.archived');
    const { stop } = (await stand.api.getSandbox(result.sandboxId ?? '')).sandbox;
    expect(Date.parse(result.wakes.at(-1)?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(stop?.endedAt ?? ''));
  });

  it('with a forged signature signal nothing', async () => {
    await stand.fault({ kind: 'webhook_drop', times: 100 });
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 1') }] });
    await expect.poll(async () => (await progressOf(handle)).sandboxId).not.toBeNull();
    const progress = await progressOf(handle);
    const { sandbox } = await stand.api.getSandbox(progress.sandboxId ?? '');
    const body = Buffer.from(
      JSON.stringify({
        id: `evt_${'0'.repeat(32)}`,
        type: 'sandbox.archived',
        createdAt: new Date().toISOString(),
        data: { sandbox: { id: sandbox.id, name: sandbox.name }, previousState: 'archiving', state: 'archived' },
      }),
    );
    const headers = deliveryHeadersFor({
      event: 'sandbox.archived',
      deliveryId: `evt_${'0'.repeat(32)}`,
      timestamp: Math.floor(Date.now() / 1_000),
      rawBody: body,
      secret: 'whsec_forged',
      attempt: 1,
    });
    const answer = await fetch(`${stand.bridgeUrl}/webhooks/sandbox`, {
      method: 'POST',
      headers: { ...headers },
      body,
    });
    expect(answer.status).toBe(401);
    const result = await handle.result();
    expect(result.wakes.every(({ by }) => by === 'safety_poll')).toBe(true);
    const { events } = await handle.fetchHistory();
    const signals = events?.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName);
    expect(signals).not.toContain('sandboxEvent');
  });
});
