import { type Client, ServiceError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { isSentToOwner, ownerWorkflowId, sandboxStopId, sandboxWatchId } from '../addresses/addresses.js';
import type { SandboxWebhookEvent } from '../contract/records/webhook-events.js';
import { untilAborted } from '../os/aborted.js';
import { timeLimit } from '../os/any-signal.js';
import { type SandboxEvent, sandboxEventSignal } from '../protocol/messages.js';

/**
 * The result of a signal:
 * - `accepted`: it is in the workflow's history.
 * - `nobody`: no open workflow has this id; the event is dropped.
 * - `rejected`: Temporal refuses it and always will.
 * - `unavailable`: Temporal did not answer, or refuses for now.
 * - `absent`: no such workflow was open a few seconds ago, and the owner has accepted the event; nothing was sent.
 */
export type SignalResult = 'accepted' | 'nobody' | 'rejected' | 'unavailable' | 'absent';

export interface SignalOutcome {
  readonly address: EventAddress;
  readonly result: SignalResult;
  /** The reason, if `rejected` or `unavailable`. */
  readonly reason?: string;
}

/** gRPC codes that a retry does not change: INVALID_ARGUMENT and FAILED_PRECONDITION. */
const hopelessGrpcCodes: ReadonlySet<unknown> = new Set([3, 9]);

export interface SignalOptions {
  /** One deadline for all signals. */
  readonly timeoutMs: number;
  /** False if no workflow with this id was open a few seconds ago. */
  readonly mayBeOpen: (workflowId: string) => boolean;
}

/**
 * Signals all addresses in parallel. Those that seem to be absent are signalled only if the owner does not accept the
 * event: then somebody else may have just begun to wait for this sandbox. Never rejects: each address has its own
 * outcome. Safe to repeat, since workflows drop events that they have seen.
 */
export async function signalEvent(
  client: Client,
  addresses: readonly EventAddress[],
  event: SandboxEvent,
  { timeoutMs, mayBeOpen }: SignalOptions,
): Promise<SignalOutcome[]> {
  // The deadline of gRPC does not cover the encoding of the payload, which may call a key service.
  const limit = timeLimit(timeoutMs);
  const signalOne = async (address: EventAddress): Promise<SignalOutcome> => {
    try {
      const handle = client.workflow.getHandle(address.workflowId);
      await untilAborted(limit, () => handle.signal(sandboxEventSignal, event));
      return { address, result: 'accepted' };
    } catch (error) {
      if (error !== limit.reason) return outcomeOf(address, error);
      return { address, result: 'unavailable', reason: `no answer within ${timeoutMs} ms` };
    }
  };
  const signalAll = async (): Promise<SignalOutcome[]> => {
    const hasOwner = addresses.some(({ kind }) => kind === 'owner');
    const isAbsent = ({ kind, workflowId }: EventAddress) => hasOwner && kind !== 'owner' && !mayBeOpen(workflowId);
    const absent = addresses.filter(isAbsent);
    const outcomes = await Promise.all(addresses.filter((address) => !absent.includes(address)).map(signalOne));
    const isWithOwner = outcomes.some(({ address, result }) => address.kind === 'owner' && result === 'accepted');
    if (!isWithOwner) return [...outcomes, ...(await Promise.all(absent.map(signalOne)))];
    return [...outcomes, ...absent.map((address) => ({ address, result: 'absent' as const }))];
  };
  return client.withDeadline(Date.now() + timeoutMs, signalAll);
}

function outcomeOf(address: EventAddress, error: unknown): SignalOutcome {
  // The text of the error differs between connections and may be empty, so its class is checked.
  if (error instanceof WorkflowNotFoundError) return { address, result: 'nobody' };
  const cause = error instanceof ServiceError ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { address, result: hopelessGrpcCodes.has(code) ? 'rejected' : 'unavailable', reason };
}

export type AddressKind = 'owner' | 'stop' | 'watch';

export interface EventAddress {
  readonly kind: AddressKind;
  readonly workflowId: string;
}

/** The workflows that an event is for, computed from the event alone. Only Temporal knows whether they exist. */
export function addressesOf(event: SandboxWebhookEvent): EventAddress[] {
  const addresses: EventAddress[] = [{ kind: 'watch', workflowId: sandboxWatchId(event.sandboxId) }];
  const owner = ownerWorkflowId(event.sandboxName);
  if (owner !== undefined && isSentToOwner(event.type, owner)) addresses.push({ kind: 'owner', workflowId: owner });
  // A stop does not wait for files to be copied, so it does not need this event.
  if (event.type !== 'sandbox.hydrated') addresses.push({ kind: 'stop', workflowId: sandboxStopId(event.sandboxId) });
  return addresses;
}
