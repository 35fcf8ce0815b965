/** The HTTP server: authentication, envelopes, limits of size and time, the call book. Creating it opens no socket. */
import { createServer as createHttpServer } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { assumptionsHeader } from '../../../src/contract/assumptions.js';
import { boundStrangers, type Strangers } from '../../../src/os/bound-strangers.js';
import type { ControlledClock } from '../clock.js';
import type { Context } from '../core/context.js';
import type { HostedServer } from '../hosting/hosted-server.js';
import type { Inspection } from '../inspection.js';
import type { IsolationReport } from '../isolation-report.js';
import type { LocalServiceOptions } from '../options.js';
import { notFound, ServiceError } from '../service-error.js';
import type { CallGate } from '../state/call-gate.js';
import type { StateControl } from '../state/control.js';
import type { CallStore } from '../store/call-store.js';
import { registerBookRoutes } from './admin/books.js';
import { registerClockRoutes } from './admin/clock.js';
import { registerFaultRoutes } from './admin/faults.js';
import { registerStateRoutes } from './admin/state.js';
import { allowedMethods, isOtherEndpoint } from './allowed-methods.js';
import { createAuthentication, createOperatorAuthentication } from './authentication.js';
import { refuseUnknownRoute } from './authorize.js';
import { callOf, recordCall } from './call.js';
import { applyDeviations } from './deviate.js';
import { asServiceError, assumptionsOf, errorEnvelope } from './error-envelope.js';
import { openApiDocument } from './openapi/document.js';
import type { Operations } from './operation.js';
import { parseJsonBody } from './parse-input.js';
import { createRateLimit } from './rate-limit.js';
import { registerRoutes } from './routes.js';
import { currentSurface, legacySurface, sunsetAfter, surfaceOf } from './surface.js';

const maxBodyBytes = 4 * 1024 * 1024;
const maxCheckIntervalMs = 5_000;
/**
 * Connections without a key. Those of a worker count until their first request has arrived, and many may come at once.
 */
const maxStrangers = 1_000;
/** How long an idle connection stays open for the next request. */
const keepAliveTimeoutMs = 72_000;
/** This path needs no key. */
const openApiPath = '/openapi.json';

interface ServerOptions {
  readonly context: Context;
  readonly hosted: HostedServer;
  readonly operations: Operations;
  readonly calls: CallStore;
  readonly books: Inspection;
  readonly apiKey: string;
  readonly faultsEnabled: boolean;
  readonly clock: ControlledClock;
  readonly gate: CallGate;
  readonly state: StateControl;
  readonly isolation: IsolationReport;
  readonly changedSettings: LocalServiceOptions['changedSettings'];
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { context, calls } = options;
  const { requestTimeoutMs } = context.timings;
  let strangers: Strangers | undefined;
  const server = fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    serverFactory(handler) {
      const connectionsCheckingInterval = Math.min(maxCheckIntervalMs, Math.max(20, Math.ceil(requestTimeoutMs / 4)));
      const http = createHttpServer(
        {
          connectionsCheckingInterval,
          keepAliveTimeout: keepAliveTimeoutMs,
          headersTimeout: requestTimeoutMs,
          requestTimeout: requestTimeoutMs,
        },
        options.hosted.answer(handler),
      );
      strangers = boundStrangers(http, { most: maxStrangers });
      options.hosted.handleUpgrades(http, strangers);
      return http;
    },
  });
  const authenticate = createAuthentication(context);
  const authenticateOperator = createOperatorAuthentication(context, options.apiKey);
  const limitRate = createRateLimit(context.clock, context.limits);

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, parseJsonBody(String(text)));
    } catch (cause) {
      done(cause as Error);
    }
  });

  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', callOf(request).requestId);
    if (request.url === openApiPath) return done();
    const surface = surfaceOf(request.url);
    // Set before anything can refuse the request: every answer of the legacy surface says when that surface ends.
    if (surface === legacySurface) reply.header('sunset', sunsetAfter(context.clock.now()));
    for (const id of surface?.assumed ?? []) callOf(request).assumed.add(id);
    const { authorization } = request.headers;
    const call = callOf(request);
    call.authenticate = () => (surface ? authenticate(authorization) : authenticateOperator(authorization));
    const caller = call.authenticate();
    call.caller = caller;
    strangers?.admit(request.raw.socket);
    if (surface) {
      if (caller.keyId !== null) context.stores.keyUsage.count(caller.keyId);
      limitRate(caller);
    }
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    if (!request.url.startsWith('/_local/'))
      recordCall(calls, request, { outcome: 'answered', status: reply.statusCode });
    done();
  });

  server.addHook('onSend', (request, reply, _payload, done) => {
    const { assumed } = callOf(request);
    if (assumed.size > 0) reply.header(assumptionsHeader, [...assumed].join(', '));
    done();
  });

  server.setErrorHandler((cause, request, reply) => {
    const error = asServiceError(cause, context.log);
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
    const call = callOf(request);
    call.code = error.code;
    for (const id of assumptionsOf(error)) call.assumed.add(id);
    const surface = surfaceOf(request.url) ?? currentSurface;
    reply.code(error.status).send(surface.refusal(errorEnvelope(error, call.requestId)));
  });
  // This is a hook, since the framework's own handler first requires a body of some methods.
  server.addHook('onRequest', (request, reply, done) => {
    const path = request.url.split('?')[0] ?? '';
    if (!request.is404 && !isOtherEndpoint(path, request.method)) return done();
    refuseUnknownRoute(callOf(request).caller);
    const allowed = allowedMethods(path);
    if (allowed.length === 0) {
      return done(notFound(`The route ${request.method} ${path} does not exist.`));
    }
    reply.header('allow', allowed.join(', '));
    done(
      new ServiceError(
        405,
        'method_not_allowed',
        `${path} does not support ${request.method}. Use ${allowed.join(', ')}.`,
      ),
    );
  });

  applyDeviations(server, context);
  registerRoutes(server, options);
  let openApi: string | undefined;
  server.get(openApiPath, (_request, reply) => {
    openApi ??= JSON.stringify(openApiDocument());
    return reply.type('application/json; charset=utf-8').send(openApi);
  });
  registerClockRoutes(server, options.clock);
  registerStateRoutes(server, { state: options.state, log: context.log });
  registerBookRoutes(server, options);
  registerFaultRoutes(server, options);
  return server;
}
