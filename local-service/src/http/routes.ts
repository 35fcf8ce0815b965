/** Registers a route for each row of the endpoint table, and applies armed faults. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Endpoint, type EndpointName, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { maxFileBytes } from '../../../src/contract/workflow-safe/limits.js';
import { endWhenForbidden, mayLast } from '../access/access-tokens.js';
import { noteAssumptions } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { reasonOf } from '../log.js';
import type { Download } from '../machine/disk/download.js';
import { ServiceError } from '../service-error.js';
import type { CallGate } from '../state/call-gate.js';
import type { CallStore } from '../store/call-store.js';
import { authorize } from './authorize.js';
import { callOf, cutOff, recordCall } from './call.js';
import type { OperationInput, OperationResult, Operations } from './operation.js';
import { parseInput, type RawInput } from './parse-input.js';
import { type Surface, surfaces } from './surface.js';

/** Base64 adds a third to a file, and JSON escapes can add more. */
const maxFileBodyBytes = 2 * maxFileBytes;
/** Endpoints whose body may be as large as a body with a file, since people write long texts. */
const largeBodies: ReadonlySet<EndpointName> = new Set(['writeFile', 'sendPrompt', 'createSandbox', 'runCommand']);

/**
 * Longer answers, in characters, are sent as bytes: Node reserves three bytes for each character of a text that it
 * sends, a quarter of the cost of a list of 10,000 sandboxes. It joins a short text and its headers in one write.
 */
const largeAnswer = 64 * 1024;

/** The body of a success: JSON, or bytes. */
type Answer = string | Download;

interface RouteOptions {
  readonly context: Context;
  readonly operations: Operations;
  readonly calls: CallStore;
  readonly gate: CallGate;
}

type AnyOperation = (
  context: Context,
  input: OperationInput<EndpointName>,
) => OperationResult | Promise<OperationResult>;

export function registerRoutes(server: FastifyInstance, options: RouteOptions): void {
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    for (const surface of surfaces) registerRoute(server, { ...options, surface, name, endpoint: endpoints[name] });
  }
}

function registerRoute(
  server: FastifyInstance,
  options: RouteOptions & { readonly surface: Surface; readonly name: EndpointName; readonly endpoint: Endpoint },
): void {
  const { context, calls, gate, surface, name, endpoint } = options;
  // Specification, "Response envelope": environments carry `success` in place of `ok` and `type`.
  const head = endpoint.type === null ? '"success":true' : `"ok":true,"type":"${endpoint.type}"`;
  const operation = options.operations[name] as unknown as AnyOperation;

  const perform = (request: FastifyRequest): Promise<Answer> =>
    noteAssumptions({ assumed: callOf(request).assumed, deviations: context.deviations }, () =>
      // A command may run for hours and changes no record, so a reset does not wait for its end.
      gate.pass(() => performNoted(request), { awaited: name !== 'runCommand' }),
    );

  async function performNoted(request: FastifyRequest): Promise<Answer> {
    const { params, query, body, headers } = request as RawInput & FastifyRequest;
    const call = callOf(request);
    call.sandboxId = params.sandboxId ?? null;
    // The body may have come slowly, and the key may have ended meanwhile.
    call.caller = call.authenticate?.();
    if (!call.caller) throw new ServiceError(401, 'unauthorized', 'The bearer token is missing or invalid.');
    authorize(call.caller, name, endpoint);
    const sent = { params, query: surface.incoming(query), body: surface.incoming(body), headers };
    const parsed = parseInput(endpoint, sent);
    const input = { ...parsed, caller: call.caller, surface: surface.name } as OperationInput<EndpointName>;
    const result = await operation(context, input);
    call.accepted = true;
    for (const id of endpoint.assumed ?? []) if (!context.deviations.has(id)) call.assumed.add(id);
    call.sandboxId = result.sandboxId ?? call.sandboxId;
    if (result.raw) {
      endWhenForbidden(
        result.raw.stream,
        mayLast(context, call.caller, (now) => {
          authorize(now, name, endpoint);
          result.mayRead?.(now);
        }),
      );
      return result.raw;
    }
    const fields = result.json ?? JSON.stringify(result.fields ?? {}).slice(1, -1);
    return surface.outgoing(`{${head}${fields === '' ? '' : ','}${fields}}`);
  }

  server.route({
    method: endpoint.method,
    url: `${surface.base}${surface.pathOf(endpoint.path).replace(/\{(\w+)\}/g, ':$1')}`,
    ...(largeBodies.has(name) ? { bodyLimit: maxFileBodyBytes } : {}),
    onRequest(request, reply, done) {
      const call = callOf(request);
      call.endpoint = name;
      call.fault = context.faults.takeForCall(name);
      if (call.fault?.kind === 'close') {
        recordCall(calls, request, { outcome: 'closed', status: null });
        cutOff(request, reply);
        return;
      }
      if (call.fault?.kind !== 'error') return done();
      const { status, code, html, retryAfterSeconds } = call.fault;
      if (!html) {
        return done(
          new ServiceError(status, code ?? defaultCode(status), 'A fault was injected.', { retryAfterSeconds }),
        );
      }
      reply.code(status).type('text/html').send(`<html><head><title>${status}</title></head><body>proxy</body></html>`);
    },
    async handler(request, reply) {
      const { fault } = callOf(request);
      if (fault?.kind === 'latency') await delay(fault.ms, undefined, { signal: context.closing });
      if (fault?.kind === 'accept_late') {
        cutOff(request, reply);
        await unanswered('late', async () => {
          const lateMs = context.deviations.has('A-late-calls') ? 60_000 : 0;
          await delay(fault.ms + lateMs, undefined, { signal: context.closing });
          return perform(request);
        });
        return reply;
      }
      if (fault?.kind === 'drop_response' && fault.status === undefined) {
        await unanswered('dropped', () => perform(request));
        cutOff(request, reply);
        return reply;
      }
      const answer = await perform(request);
      if (fault?.kind === 'drop_response' && fault.status !== undefined) {
        if (typeof answer !== 'string') answer.stream.destroy();
        throw new ServiceError(fault.status, defaultCode(fault.status), 'A fault was injected.');
      }
      reply.code(endpoint.status);
      if (typeof answer !== 'string') {
        if (answer.kind === 'folder') return reply.type('application/gzip').send(answer.stream);
        reply.header('content-length', answer.sizeBytes);
        return reply.type('application/octet-stream').send(answer.stream);
      }
      reply.type('application/json; charset=utf-8');
      return answer.length > largeAnswer ? Buffer.from(answer) : answer;

      async function unanswered(outcome: 'late' | 'dropped', work: () => Promise<Answer>): Promise<void> {
        try {
          const answer = await work();
          if (typeof answer !== 'string') answer.stream.destroy();
        } catch (cause) {
          context.log('refused a request whose caller receives no answer', { endpoint: name, reason: reasonOf(cause) });
        }
        if (!context.closing.aborted) recordCall(calls, request, { outcome, status: null });
      }
    },
  });
}

function defaultCode(status: number): string {
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'http_500' : 'invalid_request';
}
