import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BridgeLog } from './bridge-options.js';
import type { AddressKind, SignalResult } from './signal-event.js';

export type BridgeMetrics = ReturnType<typeof createBridgeMetrics>;

/**
 * Registers the bridge's metrics. A registry can hold the metrics of only one bridge.
 * @param countOpen counts the open workflows of each kind; undefined if it is not known
 */
export function createBridgeMetrics(
  registry: Registry,
  countOpen: () => Promise<Readonly<Record<string, number>> | undefined>,
) {
  const registers = [registry];
  new Gauge({
    name: 'sandflow_open_work',
    help: 'Jobs, items, batches and others that have not ended, of the namespace; each bridge tells the same',
    labelNames: ['kind'],
    registers,
    async collect() {
      const open = await countOpen();
      // No number is better than an old one.
      this.reset();
      for (const [kind, count] of Object.entries(open ?? {})) this.set({ kind }, count);
    },
  });
  const deliveries = new Counter({
    name: 'sandflow_bridge_deliveries_total',
    help: 'Webhook deliveries by result',
    labelNames: ['result'],
    registers,
  });
  const signals = new Counter({
    name: 'sandflow_bridge_signals_total',
    help: 'Signals by kind of address and by result',
    labelNames: ['address', 'result'],
    registers,
  });
  const legacy = new Counter({
    name: 'sandflow_bridge_legacy_deliveries_total',
    help: 'Accepted deliveries in the legacy vocabulary (box.*); recreate the webhook to stop them',
    registers,
  });
  const durations = new Histogram({
    name: 'sandflow_bridge_delivery_seconds',
    help: 'Time from the first byte of a delivery to its response',
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5],
    registers,
  });
  const skew = new Histogram({
    name: 'sandflow_bridge_clock_skew_seconds',
    help: 'Local time minus the timestamp of signed deliveries; deliveries that differ by more than 300 s are refused',
    buckets: [-300, -60, -10, -2, 0, 2, 10, 60, 300],
    registers,
  });
  return {
    /** @param seconds undefined if its request could not be read */
    delivery: (result: string, seconds?: number) => {
      deliveries.inc({ result });
      if (seconds !== undefined) durations.observe(seconds);
    },
    signal: (address: AddressKind, result: SignalResult) => signals.inc({ address, result }),
    legacy: () => legacy.inc(),
    /** The bridge's clock minus the sender's timestamp, in seconds. Includes the transmission time. */
    clockSkew: (seconds: number) => skew.observe(seconds),
    reset: () => {
      for (const metric of [deliveries, signals, legacy, durations, skew]) metric.reset();
    },
  };
}

export const metricsPath = '/metrics';

export function createMetricsHandler(
  registry: Registry,
  log: BridgeLog,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    if (path !== metricsPath || !['GET', 'HEAD'].includes(request.method ?? '')) {
      response.statusCode = 404;
      return void response.end('not_found\n');
    }
    registry.metrics().then(
      (text) => response.setHeader('content-type', registry.contentType).end(text),
      (error) => {
        log('The metrics could not be served.', { error: error instanceof Error ? error.message : String(error) });
        response.statusCode = 500;
        response.end('internal_error\n');
      },
    );
  };
}
