/** Configures the metrics and the log of Temporal's runtime in a worker process. */

import { inspect } from 'node:util';
import { type DefaultLogger, Runtime } from '@temporalio/worker';
import type { CallRecord } from '../client/index.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { withoutSecrets } from '../errors/without-secrets.js';
import { codeLabel } from '../protocol/code-label.js';
import { logging, WorkerLogger } from '../temporal/runtime-log.js';

const hours = [
  60,
  300,
  600,
  900,
  1_800,
  2_700,
  3_600,
  ...[2, 3, 4, 6, 9, 12, 18, 24, 48, 72, 168].map((n) => n * 3_600),
];

/**
 * Serves the metrics of this process's workers at `http://<address>/metrics` until the process ends. They include
 * Temporal's and sandflow's own metrics. Call it once, before the first connection and worker.
 * @param address `host:port`, where host is an IP address
 * @param options.log as with `logTo`; default: Temporal writes to stderr
 * @throws SandflowError `metrics_not_served` if the address is invalid or in use, or if Temporal's runtime already runs
 * @example
 * serveMetrics('127.0.0.1:9464');
 * const { connection } = await connectWorker(config.temporal.connect);
 */
export function serveMetrics(address: string, { log }: { readonly log?: (line: string) => void } = {}): void {
  try {
    const prometheus = { bindAddress: address, histogramBucketOverrides: histogramBuckets };
    const telemetryOptions = { metrics: { prometheus }, ...(log && { logging }) };
    Runtime.install({ telemetryOptions, ...(log && { logger: loggerTo(log) }) });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const message = `Metrics cannot be served at ${address} (--metrics): ${reasonOf(said)}`;
    throw new SandflowError('metrics_not_served', message, { cause });
  }
}

/**
 * Bounds of the histograms of sandflow, in seconds. `serveMetrics` sets them. For a `Runtime` of your own:
 * `telemetryOptions.metrics.prometheus.histogramBucketOverrides`. The bounds of Temporal are milliseconds.
 */
export const histogramBuckets: Readonly<Record<string, number[]>> = {
  sandflow_blocked_seconds: hours,
  sandflow_call_seconds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  sandflow_failing_stop_seconds: hours,
  sandflow_phase_seconds: [1, 5, 15, 60, 300, 900, 3_600, 4 * 3_600, 24 * 3_600],
  sandflow_wake_lag_seconds: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
};

/**
 * Counts the calls to the service by endpoint, HTTP status and code of the error; `none` without one. Pass it to the client
 * of a worker, after `serveMetrics`.
 * @example
 * const api = createSandboxClient({ baseUrl: url, apiKey: token, onCall: countCallsByCode() });
 */
export function countCallsByCode(): (call: CallRecord) => void {
  const { metricMeter } = Runtime.instance();
  const calls = metricMeter.createCounter('sandflow_calls', undefined, 'Calls to the service by endpoint and code');
  const durations = metricMeter.createHistogram('sandflow_call_seconds', 'float', undefined, 'Duration of these calls');
  return ({ endpoint, status, errorCode, durationMs }) => {
    calls.add(1, { endpoint, status: String(status ?? 'none'), code: codeLabel(errorCode) });
    durations.record(durationMs / 1_000, { endpoint });
  };
}

/** Translates what Temporal's native part says about an address. */
function reasonOf(said: string): string {
  if (/in use/i.test(said)) return 'the port is in use.';
  if (/assign requested address/i.test(said)) return 'this is not an address of this machine.';
  if (/permission denied/i.test(said)) return 'you may not listen on this port.';
  return /invalid socket address/i.test(said) ? 'this is not an IP address and a port.' : said;
}

/**
 * Hands each line of the workers' log to `log` instead of stderr. Call it once, before the first connection and worker,
 * and not together with `serveMetrics`, which takes `log` too.
 * @example
 * logTo((line) => appendFileSync('/var/log/sandflow.log', `${line}\n`));
 * const { connection } = await connectWorker(config.temporal.connect);
 */
export function logTo(log: (line: string) => void): void {
  Runtime.install({ logger: loggerTo(log), telemetryOptions: { logging } });
}

function loggerTo(log: (line: string) => void): DefaultLogger {
  return new WorkerLogger('INFO', ({ level, timestampNanos, message, meta }) => {
    const at = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
    const fields = meta === undefined ? '' : ` ${inspect(meta, { breakLength: Infinity })}`;
    log(withoutSecrets(`${at} [${level}] ${message.replaceAll('\n', '\n  ')}${fields}`));
  });
}
