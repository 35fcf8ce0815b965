/** A request that the service handles, in the form in which the log of calls records it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AssumptionId } from '../../../src/contract/assumptions.js';
import { endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { idempotencyKeyHeader } from '../../../src/contract/requests/sandbox-requests.js';
import type { Caller } from '../access/key-scope.js';
import { newRequestId } from '../core/ids.js';
import type { CallFault } from '../faults/fault-specification.js';
import type { CallRecord, CallStore } from '../store/call-store.js';

export interface Call {
  readonly requestId: string;
  readonly receivedAt: number;
  /** Undefined until the request is authenticated. */
  caller: Caller | undefined;
  /** Finds the caller again. Throws a ServiceError as the request's answer if its key has ended. */
  authenticate: (() => Caller) | undefined;
  endpoint: string;
  accepted: boolean;
  sandboxId: string | null;
  /** The fault that applies to this request. */
  fault: CallFault | undefined;
  /** The error code of its answer; null if it has none. */
  code: string | null;
  /** The assumptions that its answer relies on. */
  readonly assumed: Set<AssumptionId>;
  recorded: boolean;
}

const calls = new WeakMap<FastifyRequest, Call>();

/** The call of a request; created at its first use. */
export function callOf(request: FastifyRequest): Call {
  let call = calls.get(request);
  if (!call) {
    call = {
      requestId: newRequestId(),
      receivedAt: performance.timeOrigin + performance.now(),
      caller: undefined,
      authenticate: undefined,
      endpoint: 'unknown',
      accepted: false,
      sandboxId: null,
      fault: undefined,
      code: null,
      assumed: new Set(),
      recorded: false,
    };
    calls.set(request, call);
  }
  return call;
}

/** Writes a call into the book, once. */
export function recordCall(
  store: CallStore,
  request: FastifyRequest,
  end: { readonly outcome: CallRecord['outcome']; readonly status: number | null },
): void {
  const call = callOf(request);
  if (call.recorded) return;
  call.recorded = true;
  const key = request.headers[idempotencyKeyHeader];
  store.add({
    at: new Date(call.receivedAt).toISOString(),
    receivedAt: call.receivedAt,
    endpoint: call.endpoint,
    method: request.method,
    path: pathWithoutSecrets(request.url),
    status: end.status,
    code: call.code,
    durationMs: Math.max(0, performance.timeOrigin + performance.now() - call.receivedAt),
    outcome: end.outcome,
    accepted: call.accepted,
    idempotencyKey: typeof key === 'string' ? key : null,
    sandboxId: call.sandboxId,
    requestId: call.requestId,
    assumptions: [...call.assumed],
  });
}

/** Ends the connection of a request without an answer, and keeps the framework from sending one. */
export function cutOff(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.destroy();
}

const maxSegmentLength = 128;

/** The query parameters of the contract. None of them holds a secret. */
const knownParameters: ReadonlySet<string> = new Set([
  ...Object.values(endpoints).flatMap((endpoint) => ('query' in endpoint ? Object.keys(endpoint.query.shape) : [])),
]);

const redacted = '[redacted]';

/** Redacts the values of unknown query parameters, and parts of the path that may be a secret. */
export function pathWithoutSecrets(url: string): string {
  const at = url.indexOf('?');
  const path = (at < 0 ? url : url.slice(0, at)).split('/').map(plainSegment).join('/');
  if (at < 0) return path;
  const query = url
    .slice(at + 1)
    .split('&')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return value.length === 0 || knownParameters.has(name) ? pair : `${name}=${redacted}`;
    });
  return `${path}?${query.join('&')}`;
}

function plainSegment(segment: string): string {
  return /whsec_|bearer/i.test(segment) || segment.length > maxSegmentLength ? redacted : segment;
}
