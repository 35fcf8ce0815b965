/** The log of Temporal's runtime in a worker process. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** The SDK writes this at each start of a worker that runs only activities, as three of a sandflow worker's four do. */
const noWorkflows = 'No workflows registered, not polling for workflow tasks';

/** Temporal's default logger without that line, which is irrelevant for a sandflow worker. */
export class WorkerLogger extends DefaultLogger {
  override log(...[level, message, meta]: Parameters<DefaultLogger['log']>): void {
    if (message !== noWorkflows) super.log(level, message, meta);
  }
}

/** Installs the logger, unless the process has installed or started Temporal's runtime before. */
export function installWorkerLogger(): void {
  try {
    Runtime.install({ logger: new WorkerLogger('INFO') });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
