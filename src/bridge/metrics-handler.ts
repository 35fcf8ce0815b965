/** Shows the bridge's metrics to Prometheus. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import type { BridgeLog } from './bridge-options.js';

export const metricsPath = '/metrics';

export function createMetricsHandler(
  registry: Registry,
  log: BridgeLog,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    if (path !== metricsPath || request.method !== 'GET') {
      response.statusCode = 404;
      return void response.end('not_found\n');
    }
    registry.metrics().then(
      (text) => response.setHeader('content-type', registry.contentType).end(text),
      (error) => {
        log('The metrics could not be shown.', { error: error instanceof Error ? error.message : String(error) });
        response.statusCode = 500;
        response.end('internal_error\n');
      },
    );
  };
}
