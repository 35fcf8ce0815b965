import { type Client, ServiceError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { SandboxWebhookEvent } from '../contract/records/webhook-events.js';
import { ownerWorkflowId, sandboxStopId, sandboxWatchId } from '../contract/workflow-safe/addresses.js';
import { type SandboxEvent, sandboxEventSignal } from '../protocol/messages.js';

/**
 * The result of a signal:
 * - `accepted`: it is in the workflow's history.
 * - `nobody`: no open workflow has this id; the event is dropped.
 * - `rejected`: Temporal refuses it and always will.
 * - `unavailable`: Temporal did not answer, or refuses for now.
 * - `limited`: the workflow has received too many events for now; the event is dropped.
 */
const signalResults = ['accepted', 'nobody', 'rejected', 'unavailable', 'limited'] as const;
export type SignalResult = (typeof signalResults)[number];

export interface SignalOutcome {
  readonly address: EventAddress;
  readonly result: SignalResult;
  /** The reason, if `rejected` or `unavailable`. */
  readonly reason?: string;
}

/** gRPC codes that a retry does not change: INVALID_ARGUMENT and FAILED_PRECONDITION. */
const hopelessGrpcCodes: ReadonlySet<unknown> = new Set([3, 9]);

/**
 * Signals all addresses in parallel, with `timeoutMs` as one deadline for all of them. Never rejects: each address has
 * its own outcome. Safe to repeat, since workflows drop events that they have seen.
 */
export async function signalEvent(
  client: Client,
  addresses: readonly EventAddress[],
  event: SandboxEvent,
  options: { readonly timeoutMs: number },
): Promise<SignalOutcome[]> {
  const { timeoutMs } = options;
  let timer: NodeJS.Timeout | undefined;
  // The deadline of gRPC does not cover the encoding of the payload, which may call a key service.
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  const signalOne = async (address: EventAddress): Promise<SignalOutcome> => {
    try {
      const signalled = client.workflow.getHandle(address.workflowId).signal(sandboxEventSignal, event);
      const first = await Promise.race([signalled, late]);
      if (first !== 'late') return { address, result: 'accepted' };
      signalled.catch(() => {});
      return { address, result: 'unavailable', reason: `no answer within ${timeoutMs} ms` };
    } catch (error) {
      return outcomeOf(address, error);
    }
  };
  try {
    return await client.withDeadline(Date.now() + timeoutMs, () => Promise.all(addresses.map(signalOne)));
  } finally {
    clearTimeout(timer);
  }
}

function outcomeOf(address: EventAddress, error: unknown): SignalOutcome {
  // The text of the error differs between connections and may be empty, so its class is checked.
  if (error instanceof WorkflowNotFoundError) return { address, result: 'nobody' };
  const cause = error instanceof ServiceError ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { address, result: hopelessGrpcCodes.has(code) ? 'rejected' : 'unavailable', reason };
}

const addressKinds = ['owner', 'stop', 'watch'] as const;
export type AddressKind = (typeof addressKinds)[number];

export interface EventAddress {
  readonly kind: AddressKind;
  readonly workflowId: string;
}

/** The workflows that an event is for, computed from the event alone. Only Temporal knows whether they exist. */
export function addressesOf(event: SandboxWebhookEvent): EventAddress[] {
  const addresses: EventAddress[] = [{ kind: 'watch', workflowId: sandboxWatchId(event.sandboxId) }];
  const owner = ownerWorkflowId(event.sandboxName);
  if (owner !== undefined) addresses.push({ kind: 'owner', workflowId: owner });
  // A stop does not wait for files to be copied, so it does not need this event.
  if (event.type !== 'sandbox.hydrated') addresses.push({ kind: 'stop', workflowId: sandboxStopId(event.sandboxId) });
  return addresses;
}
