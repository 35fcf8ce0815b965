/** The faults that a test can request of the local service, to see how a client handles them. */
import { z } from 'zod';
import { type EndpointName, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { sandboxEventTypes } from '../../../src/contract/workflow-safe/states.js';

const endpointNames = Object.keys(endpoints) as [EndpointName, ...EndpointName[]];
const ms = z.number().int().min(0).max(3_600_000);
const every = {
  /** How often the fault happens before it is used up. */
  times: z.number().int().positive().default(1),
  /** The probability that the fault happens in each case. Cases in which it does not happen are not counted. */
  probability: z.number().gt(0).max(1).optional(),
};
const onCall = { ...every, endpoint: z.enum(['*', ...endpointNames]) };
const onDelivery = { ...every, event: z.enum(sandboxEventTypes).optional(), webhookId: z.string().optional() };

/** Faults of calls, in the order in which they can affect a request. */
const callFaults = [
  /** The connection ends before the request is read; nothing is accepted. */
  z.strictObject({ ...onCall, kind: z.literal('close') }),
  /** The request is refused with this error, or with a proxy's HTML page. */
  z.strictObject({
    ...onCall,
    kind: z.literal('error'),
    status: z.number().int().min(400).max(599),
    code: z.string().min(1).optional(),
    retryAfterSeconds: z.number().int().min(0).optional(),
    html: z.boolean().optional(),
  }),
  z.strictObject({ ...onCall, kind: z.literal('latency'), ms }),
  /**
   * The request is accepted and carried out; then the connection ends without an answer, or the answer is an error with
   * this `status`.
   */
  z.strictObject({
    ...onCall,
    kind: z.literal('drop_response'),
    status: z.number().int().min(500).max(599).optional(),
  }),
  /** The connection ends at once. The request is accepted after `ms`, when the caller no longer waits for it. */
  z.strictObject({ ...onCall, kind: z.literal('accept_late'), ms }),
] as const;

const deliveryFaults = [
  /** The event counts as delivered, but is never sent. */
  z.strictObject({ ...onDelivery, kind: z.literal('webhook_drop') }),
  z.strictObject({ ...onDelivery, kind: z.literal('webhook_double') }),
  z.strictObject({ ...onDelivery, kind: z.literal('webhook_delay'), ms }),
  /** The event is held back until the next event of the same webhook has been sent, for at most `ms`. */
  z.strictObject({ ...onDelivery, kind: z.literal('webhook_reorder'), ms: ms.default(5_000) }),
] as const;

const domainFaults = [
  /** The event history hides events younger than `ms`; `times` counts reads of the history. */
  z.strictObject({ ...every, kind: z.literal('events_lag'), ms }),
  /** The next create operations end as `cancelled`. */
  z.strictObject({ ...every, kind: z.literal('create_cancelled') }),
  /** The next create operations fail before the sandbox exists; their idempotency keys are released later. */
  z.strictObject({ ...every, kind: z.literal('create_fails') }),
  /**
   * The next create operations end in `error`. If `recoverMs` is given, the sandbox recovers by itself after that time.
   */
  z.strictObject({ ...every, kind: z.literal('boot_error'), recoverMs: ms.optional() }),
  /** The next setup scripts cannot be started; each is tried again after a second. */
  z.strictObject({ ...every, kind: z.literal('setup_start_fails') }),
  /** The next archival attempts fail: those of this sandbox or stop, if one is given. */
  z.strictObject({
    ...every,
    kind: z.literal('stop_fails'),
    sandboxId: z.string().optional(),
    stopId: z.string().optional(),
  }),
  /**
   * The next archival attempts find nothing new: they keep the previous snapshot, if there is one, and lose all changes
   * since.
   */
  z.strictObject({ ...every, kind: z.literal('snapshot_unchanged') }),
  /** The next snapshots of a usable sandbox fail: those that `snapshotEveryMs` causes. */
  z.strictObject({ ...every, kind: z.literal('snapshot_fails') }),
  /** In each of the next background copies, a step fails and is retried for `ms`; then the copy continues. */
  z.strictObject({ ...every, kind: z.literal('hydration_degraded'), ms }),
  z.strictObject({ ...every, kind: z.literal('hydration_stuck'), ms }),
  /** The next requests for the progress of a copy are answered after `ms` of real time. */
  z.strictObject({ ...every, kind: z.literal('hydration_late'), ms }),
] as const;

export const faultSpecificationSchema = z.discriminatedUnion('kind', [
  ...callFaults,
  ...deliveryFaults,
  ...domainFaults,
]);

/** A fault as a request to `/_local/faults` gives it; `times` may be left out. */
export type FaultInput = z.input<typeof faultSpecificationSchema>;
export type FaultSpecification = z.output<typeof faultSpecificationSchema>;
export type FaultKind = FaultSpecification['kind'];
export type FaultOf<Kind extends FaultKind> = Extract<FaultSpecification, { kind: Kind }>;
export type CallFault = FaultOf<'close' | 'error' | 'latency' | 'drop_response' | 'accept_late'>;
export type DeliveryFault = FaultOf<'webhook_drop' | 'webhook_double' | 'webhook_delay' | 'webhook_reorder'>;
