/** Shows the metrics of a worker process to Prometheus. */
import { Runtime } from '@temporalio/worker';
import { SandflowError } from '../contract/sandflow-error.js';

/**
 * Serves the metrics of the workers of this process, Temporal's and sandflow's own, at `http://<address>/metrics` until
 * the process ends. Call it once, before the first connection and worker.
 * @param address `host:port`, where host is an IP address
 * @throws SandflowError `metrics_not_served` where the address is none, is in use, or Temporal's runtime runs already
 */
export function serveMetrics(address: string): void {
  try {
    Runtime.install({ telemetryOptions: { metrics: { prometheus: { bindAddress: address } } } });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SandflowError('metrics_not_served', `Metrics cannot be served at ${address}: ${why}`, { cause });
  }
}
