/** Configures the metrics and the log of Temporal's runtime in a worker process. */
import { inspect } from 'node:util';
import { type DefaultLogger, Runtime } from '@temporalio/worker';
import { SandflowError } from '../errors/sandflow-error.js';
import { withoutSecrets } from '../errors/without-secrets.js';
import { logging, WorkerLogger } from '../temporal/runtime-log.js';

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
    const telemetryOptions = { metrics: { prometheus: { bindAddress: address } }, ...(log && { logging }) };
    Runtime.install({ telemetryOptions, ...(log && { logger: loggerTo(log) }) });
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    const message = `Metrics cannot be served at ${address} (--metrics): ${reasonOf(said)}`;
    throw new SandflowError('metrics_not_served', message, { cause });
  }
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
