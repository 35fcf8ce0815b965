import { ownerWorkflowId, sandboxStopId, sandboxWatchId } from '../contract/addresses.js';
import type { SandboxWebhookEvent } from '../contract/webhook-events.js';

export const addressKinds = ['owner', 'stop', 'watch'] as const;
export type AddressKind = (typeof addressKinds)[number];

export interface EventAddress {
  readonly kind: AddressKind;
  readonly workflowId: string;
}

/** The workflows that an event is for, computed from the event alone; whether anybody is there, Temporal knows. */
export function addressesOf(event: SandboxWebhookEvent): EventAddress[] {
  const addresses: EventAddress[] = [{ kind: 'watch', workflowId: sandboxWatchId(event.sandboxId) }];
  const owner = ownerWorkflowId(event.sandboxName);
  if (owner !== undefined) addresses.push({ kind: 'owner', workflowId: owner });
  // No stop waits for files to be copied.
  if (event.type !== 'sandbox.hydrated') addresses.push({ kind: 'stop', workflowId: sandboxStopId(event.sandboxId) });
  return addresses;
}
