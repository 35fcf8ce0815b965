/** While many deliveries arrive, who listens is known, and nobody is signalled in vain. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { workflowTypes } from '../../../src/protocol/messages.js';
import { connectClient, deliver, eventBody, newOwned, newSandboxId, startBridge } from '../../bridge/bridge-harness.js';

let temporal: Awaited<ReturnType<typeof connectClient>>;
let bridge: Awaited<ReturnType<typeof startBridge>>;
const owned = newOwned();
beforeAll(async () => {
  temporal = await connectClient(inject('temporalAddress'));
  await temporal.startWaiting(owned.workflowId);
});
afterAll(async () => {
  await bridge.close();
  await temporal.close();
});

const sent = (address: string, result: string) =>
  bridge.metric('sandflow_bridge_signals_total', `{address="${address}",result="${result}"}`);

/** Delivers events of other sandboxes, many at once, until the bridge has asked Temporal. */
async function deliverMany(): Promise<void> {
  bridge.bridge.reset();
  while ((await sent('watch', 'absent')) === 0) {
    const other = newOwned();
    await temporal.startWaiting(other.workflowId);
    await Promise.all(Array.from({ length: 30 }, () => deliver(bridge.url, eventBody({ name: other.name }))));
  }
}

it('signals the owner alone, and who waits by the id of the sandbox as soon as the owner is not the only one', async () => {
  bridge = await startBridge(temporal.client);
  const watched = newSandboxId();
  const watch = `sandbox-watch/${watched}`;
  const stop = `sandbox-stop/${watched}`;
  await temporal.startWaiting(watch, workflowTypes.sandboxWatch);
  await temporal.startWaiting(stop, workflowTypes.stopAndAwaitArchive);
  // Workflows of other tests have memos that only their own clients can read.
  const visible = async () => {
    const { namespace } = temporal.client.options;
    const query = `WorkflowId IN ('${watch}', '${stop}')`;
    const { executions } = await temporal.client.workflowService.listWorkflowExecutions({ namespace, query });
    return executions.map(({ execution }) => execution?.workflowId);
  };
  await expect.poll(visible).toEqual(expect.arrayContaining([watch, stop]));
  await deliverMany();

  const body = eventBody({ sandboxId: watched, name: owned.name });
  expect(await deliver(bridge.url, body)).toMatchObject({ status: 200 });
  for (const workflowId of [owned.workflowId, watch, stop]) {
    expect(await temporal.signalsTo(workflowId)).toMatchObject([{ id: body.id }]);
  }
});

it('signals who has just begun to wait for a sandbox whose owner is not open, or that has none', async () => {
  await deliverMany();
  for (const name of [newOwned().name, 'by hand']) {
    const sandboxId = newSandboxId();
    const waiting = [`sandbox-stop/${sandboxId}`, `sandbox-watch/${sandboxId}`];
    for (const workflowId of waiting) await temporal.startWaiting(workflowId);
    const body = eventBody({ type: 'sandbox.archived', sandboxId, name });
    expect(await deliver(bridge.url, body)).toMatchObject({ status: 200 });
    for (const workflowId of waiting) expect(await temporal.signalsTo(workflowId)).toMatchObject([{ id: body.id }]);
  }
});
