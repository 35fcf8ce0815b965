/** The bridge's routes and responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readRawBody } from '../os/raw-body.js';
import type { Probe } from '../temporal/probe.js';
import { withoutEndSlashes } from '../texts/urls.js';
import type { BridgeMetrics } from './bridge-metrics.js';
import type { BridgeLog } from './bridge-options.js';
import { deliveryStatuses, type Receiver, receiveDelivery } from './receive-delivery.js';

import { webhookPath } from './webhook-path.js';

export interface RequestHandlerOptions {
  readonly receiver: Receiver;
  readonly readiness: Probe;
  readonly metrics: BridgeMetrics;
  readonly maxBodyBytes: number;
  readonly log: BridgeLog;
  /** True from the moment when the bridge is told to close. */
  readonly isClosing: () => boolean;
}

/** Monitors ask with HEAD. Node sends no body then. */
const pageMethods = ['GET', 'HEAD'];

type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Answers one request; never rejects. Each page is also below any other path, because a balancer may pass on the prefix
 * at which it publishes the bridge.
 */
export function createRequestHandler(options: RequestHandlerOptions): Route {
  const { receiver, readiness, metrics, maxBodyBytes, log, isClosing } = options;

  const deliver: Route = async (request, response) => {
    const start = performance.now();
    const end = (status: number, result: string) => {
      answer(response, status, `${result}\n`);
      metrics.delivery(result, (performance.now() - start) / 1000);
    };
    const rawBody = await readRawBody(request, maxBodyBytes);
    if (rawBody === 'too_large') {
      // The rest of the body is still to come, so the connection cannot be used again.
      response.setHeader('connection', 'close');
      return end(413, 'too_large');
    }
    const result = await receiveDelivery(receiver, request.headers, rawBody);
    end(deliveryStatuses[result], result);
  };

  const ready: Route = async (request, response) => {
    const problem = isClosing() ? 'closing' : await readiness.problem();
    const asked = new URLSearchParams(request.url?.split('?')[1]).get('sandbox');
    const lines = [problem ?? 'ready', ...receiver.refusals.lines(asked)];
    answer(response, problem === undefined ? 200 : 503, `${lines.join('\n')}\n`);
  };
  const routes: readonly { readonly path: string; readonly methods: readonly string[]; readonly route: Route }[] = [
    { path: webhookPath, methods: ['POST'], route: deliver },
    { path: '/healthz', methods: pageMethods, route: async (_, response) => answer(response, 200, 'ok\n') },
    { path: '/readyz', methods: pageMethods, route: ready },
  ];

  return async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const plain = withoutEndSlashes(path);
    const found = routes.find((one) => plain.endsWith(one.path));
    try {
      if (!found) return answer(response, 404, 'not_found\n');
      if (!found.methods.includes(request.method ?? '')) {
        response.setHeader('allow', found.methods.join(', '));
        return answer(response, 405, 'method_not_allowed\n');
      }
      await found.route(request, response);
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      log('A request failed.', { path, error: error instanceof Error ? error.message : String(error) });
      if (!response.headersSent) answer(response, 500, 'internal_error\n');
    }
  };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.statusCode = status;
  response.end(text);
}
