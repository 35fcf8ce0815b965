/** Manually created sandboxes, and requests to stop them. */
import { expect, vi } from 'vitest';
import { awaitStop } from '../../../src/workflow-client/stops/read-stops.js';
import { type RequestedStop, requestStop } from '../../../src/workflow-client/stops/stop-client.js';
import type { StopOptions } from '../../../src/workflow-client/stops/stop-input.js';
import { type SandboxEvent, sandboxEventSignal } from '../../../workflows/index.js';
import { patient, type Stand, shortTiming } from '../workflow-harness.js';

/** A ready sandbox without events in progress. */
export async function readySandbox(stand: Stand, body: { readonly name?: string; readonly snapshots?: boolean } = {}) {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand', ...body });
  // Not expect.poll, which cannot find its test among concurrent ones.
  await vi.waitFor(async () => {
    expect((await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
    expect(stand.service.books.deliveries({ sandboxId: sandbox.id }).length).toBeGreaterThan(0);
  }, patient);
  return sandbox.id;
}

export const ask = (stand: Stand, options: StopOptions): Promise<RequestedStop> =>
  requestStop(stand.client, { deadlineMs: 600_000, timing: shortTiming, ...options }, { taskQueue: stand.taskQueue });

export const outcomeOf = (stand: Stand, requested: RequestedStop) => awaitStop(stand.client, requested);

export const stopWorkflow = (stand: Stand, sandboxId: string) =>
  stand.client.workflow.getHandle(`sandbox-stop/${sandboxId}`);

/** Signals an event as the bridge does, without the service. */
export async function signalEvent(stand: Stand, sandboxId: string, event: Pick<SandboxEvent, 'id' | 'type'>) {
  await stopWorkflow(stand, sandboxId).signal(sandboxEventSignal, {
    ...event,
    createdAt: new Date(Date.now() - 60_000).toISOString(),
    sandboxId,
    sandboxName: '',
  });
}

/** Removes all faults. */
export async function heal(stand: Stand): Promise<void> {
  await fetch(`${stand.service.adminUrl}/faults`, { method: 'DELETE', headers: { authorization: 'Bearer test-key' } });
}
