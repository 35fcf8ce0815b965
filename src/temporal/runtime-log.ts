/** The log of Temporal's runtime in a worker process. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, type TelemetryOptions } from '@temporalio/worker';
import { withoutSecrets, withoutSecretsIn } from '../errors/without-secrets.js';
import { earlyQueryText } from '../protocol/early-query.js';

/** The SDK writes this at each start of a worker that runs only activities, as three of a sandflow worker's four do. */
const noWorkflows = 'No workflows registered, not polling for workflow tasks';

/** The SDK writes this, as an error, if a workflow's interceptor refuses a query. */
const refusedQuery = 'Failed to process Workflow Activation';

/** From the lowest to the highest. */
const levels: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];

/** Hands the lines of Temporal's native part to the logger. It would print them itself: with colours and secrets. */
export const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;

/**
 * Temporal's default logger, without secrets. It omits the first of these lines, and the second is not an error for an
 * early query.
 */
export class WorkerLogger extends DefaultLogger {
  override log(...[level, message, meta]: Parameters<DefaultLogger['log']>): void {
    // The SDK writes several lines of the lowest levels for each task. It would search them for secrets, and drop them.
    if (levels.indexOf(level) < levels.indexOf(this.level) || message === noWorkflows) return;
    if (message === refusedQuery && String(meta?.error).includes(earlyQueryText)) {
      const { workflowId, runId } = meta ?? {};
      super.log('INFO', earlyQueryText, { workflowId, runId });
    } else super.log(level, withoutSecrets(message), withoutSecretsIn(meta));
  }
}

/** Installs the logger, unless the process has installed or started Temporal's runtime before. */
export function installWorkerLogger(): void {
  install(new WorkerLogger('INFO'), logging);
}

/**
 * Like `installWorkerLogger`, but only errors are logged. For a process that reports itself which of its calls fail: the
 * native part would write several lines for each.
 */
export function installErrorLogger(): void {
  install(new WorkerLogger('ERROR'), { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } });
}

function install(logger: WorkerLogger, itsLogging: NonNullable<TelemetryOptions['logging']>): void {
  try {
    Runtime.install({ logger, telemetryOptions: { logging: itsLogging } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
