import { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectClient, deliver, eventBody, newOwned, newSandboxId, startBridge } from './bridge-harness.js';

let temporal: Awaited<ReturnType<typeof connectClient>>;
let bridge: Awaited<ReturnType<typeof startBridge>> | undefined;
beforeAll(async () => {
  temporal = await connectClient(inject('temporalAddress'));
});
afterEach(() => bridge?.close());
afterAll(() => temporal.close());

const signals = (address: string, result: string) => `{address="${address}",result="${result}"}`;

describe('a delivery', () => {
  it('S8: reaches the owner by the name alone, and the stop and watch of the sandbox, once each', async () => {
    bridge = await startBridge(temporal.client);
    const owned = newOwned();
    const sandboxId = newSandboxId();
    const waiting = [owned.workflowId, `sandbox-stop/${sandboxId}`, `sandbox-watch/${sandboxId}`];
    for (const workflowId of waiting) await temporal.startWaiting(workflowId);
    const body = eventBody({ sandboxId, name: owned.name });

    expect(await deliver(bridge.url, body)).toMatchObject({ status: 200, text: 'accepted' });

    const expected = {
      ...{ id: body.id, type: 'sandbox.ready', createdAt: body.createdAt, sandboxId, sandboxName: owned.name },
      ...{ previousState: 'provisioning', state: 'ready' },
    };
    for (const workflowId of waiting) expect(await temporal.signalsTo(workflowId)).toEqual([expected]);
    for (const address of ['owner', 'stop', 'watch']) {
      expect(await bridge.metric('sandflow_bridge_signals_total', signals(address, 'accepted'))).toBe(1);
    }
  });

  it('S6: of sandbox.hydrated does not reach the stop', async () => {
    bridge = await startBridge(temporal.client);
    const sandboxId = newSandboxId();
    const waiting = [`sandbox-stop/${sandboxId}`, `sandbox-watch/${sandboxId}`] as const;
    for (const workflowId of waiting) await temporal.startWaiting(workflowId);
    await deliver(bridge.url, eventBody({ type: 'sandbox.hydrated', sandboxId }));
    expect(await temporal.signalsTo(waiting[0])).toEqual([]);
    expect(await temporal.signalsTo(waiting[1])).toMatchObject([{ type: 'sandbox.hydrated', sandboxId }]);
  });

  it('of sandbox.hydrated reaches a job by the name, and an item only by the watch', async () => {
    bridge = await startBridge(temporal.client);
    const [job, item, sandboxId] = [newOwned(), newOwned('i3'), newSandboxId()];
    const watch = `sandbox-watch/${sandboxId}`;
    for (const workflowId of [job.workflowId, item.workflowId, watch]) await temporal.startWaiting(workflowId);
    for (const { name } of [job, item])
      await deliver(bridge.url, eventBody({ type: 'sandbox.hydrated', sandboxId, name }));
    expect(await temporal.signalsTo(job.workflowId)).toMatchObject([{ sandboxName: job.name }]);
    expect(await temporal.signalsTo(item.workflowId)).toEqual([]);
    expect(await temporal.signalsTo(watch)).toMatchObject([{ sandboxName: job.name }, { sandboxName: item.name }]);
  });

  it('S9: without a recipient is acknowledged and counted, and starts nothing', async () => {
    bridge = await startBridge(temporal.client);
    const owned = newOwned();
    expect(await deliver(bridge.url, eventBody({ name: owned.name }))).toMatchObject({ status: 200 });
    expect(await bridge.metric('sandflow_bridge_signals_total', signals('owner', 'nobody'))).toBe(1);
    await expect(temporal.client.workflow.getHandle(owned.workflowId).describe()).rejects.toThrow();
  });

  it('to an ended workflow is acknowledged', async () => {
    bridge = await startBridge(temporal.client);
    const owned = newOwned();
    const handle = await temporal.client.workflow.start('waiter', {
      workflowId: owned.workflowId,
      taskQueue: 'nobody-polls',
    });
    await handle.terminate();
    expect(await deliver(bridge.url, eventBody({ name: owned.name }))).toMatchObject({ status: 200, text: 'accepted' });
    expect(await bridge.metric('sandflow_bridge_signals_total', signals('owner', 'nobody'))).toBe(1);
  });

  it('S15: in the legacy vocabulary arrives in the current one, and is counted', async () => {
    bridge = await startBridge(temporal.client);
    const sandboxId = newSandboxId();
    await temporal.startWaiting(`sandbox-stop/${sandboxId}`);
    expect(await deliver(bridge.url, eventBody({ type: 'box.archived', sandboxId }))).toMatchObject({ status: 200 });
    const [event] = await temporal.signalsTo(`sandbox-stop/${sandboxId}`);
    expect(event).toMatchObject({ type: 'sandbox.archived', sandboxId });
    expect(await bridge.metric('sandflow_bridge_legacy_deliveries_total')).toBe(1);
  });

  it('S9: received twice is signalled twice with the same id, for workflows to deduplicate', async () => {
    bridge = await startBridge(temporal.client);
    const sandboxId = newSandboxId();
    await temporal.startWaiting(`sandbox-watch/${sandboxId}`);
    const body = eventBody({ sandboxId });
    await deliver(bridge.url, body);
    await deliver(bridge.url, body);
    const ids = (await temporal.signalsTo(`sandbox-watch/${sandboxId}`)).map(({ id }) => id);
    expect(ids).toEqual([body.id, body.id]);
  });

  it('of an unknown type is acknowledged and counted, not signalled', async () => {
    bridge = await startBridge(temporal.client);
    const sandboxId = newSandboxId();
    await temporal.startWaiting(`sandbox-watch/${sandboxId}`);
    const answer = await deliver(bridge.url, eventBody({ type: 'sandbox.renamed', sandboxId }));
    expect(answer).toMatchObject({ status: 200, text: 'unknown_type' });
    expect(await temporal.signalsTo(`sandbox-watch/${sandboxId}`)).toEqual([]);
    expect(await bridge.metric('sandflow_bridge_deliveries_total', '{result="unknown_type"}')).toBe(1);
  });

  it('that Temporal refuses for good is counted and acknowledged', async () => {
    const refuse = () => Promise.reject(Object.assign(new Error('refused'), { code: 3 }));
    const { connection } = temporal.client;
    bridge = await startBridge(new Client({ connection, interceptors: { workflow: [{ signal: refuse }] } }));
    const answer = await deliver(bridge.url, eventBody({ sandboxId: newSandboxId() }));
    expect(answer).toMatchObject({ status: 200, text: 'accepted' });
    expect(await bridge.metric('sandflow_bridge_signals_total', signals('watch', 'rejected'))).toBe(1);
  });

  it('of a sandbox with a name of megabytes reaches who waits by its id, with a short name', async () => {
    bridge = await startBridge(temporal.client, { maxBodyBytes: 4_000_000 });
    const sandboxId = newSandboxId();
    await temporal.startWaiting(`sandbox-watch/${sandboxId}`);
    const answer = await deliver(bridge.url, eventBody({ sandboxId, name: 'x'.repeat(2_500_000) }));
    expect(answer).toMatchObject({ status: 200, text: 'accepted' });
    const [event] = await temporal.signalsTo(`sandbox-watch/${sandboxId}`);
    expect(event?.sandboxName).toBe('x'.repeat(1_000));
  });
});
