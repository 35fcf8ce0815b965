/** Waits until a server answers for a namespace, and sets how long closed jobs stay readable there. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

const retryMs = 20;
const callTimeoutMs = 2_000;
/** The dev server keeps closed workflows for a day. A job's result should be readable for longer. */
const retention = '30 days';

export interface PrepareNamespaceOptions {
  readonly address: string;
  readonly namespace: string;
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when workflows can be started, listed and counted in the namespace.
 * @throws the last error at the timeout
 */
export async function prepareNamespace(options: PrepareNamespaceOptions): Promise<void> {
  const { address, namespace, timeoutMs, signal } = options;
  const giveUpAt = Date.now() + timeoutMs;
  // gRPC waits for a second after a refused connection, so it is used only once the port is open.
  while (!(await isListening(address)) && Date.now() < giveUpAt) await sleep(retryMs, undefined, { signal });
  const connection = Connection.lazy({ address });
  const { workflowService } = connection;
  try {
    for (;;) {
      signal.throwIfAborted();
      try {
        await connection.withDeadline(Date.now() + callTimeoutMs, async () => {
          await workflowService.describeNamespace({ namespace });
          await workflowService.updateNamespace({
            namespace,
            config: { workflowExecutionRetentionTtl: msToTs(retention) },
          });
          await workflowService.countWorkflowExecutions({ namespace, query: '' });
        });
        return;
      } catch (error) {
        if (Date.now() > giveUpAt) throw error;
        await sleep(retryMs, undefined, { signal });
      }
    }
  } finally {
    await connection.close();
  }
}

function isListening(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
