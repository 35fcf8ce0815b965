/** Receives the webhooks of a plain Temporal application, and signals the workflow that the sandbox is named after. */
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { serve } from '../../processes/entry.js';
import { serveWebhooks } from '../plain/webhook-server.js';
import { sandboxSignal } from '../plain/workflow.js';

export interface ReceiverSettings {
  readonly temporalAddress: string;
  readonly port: number;
  readonly secret: string;
}

await serve<ReceiverSettings>(async ({ temporalAddress, port, secret }) => {
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  const server = await serveWebhooks({
    port,
    secret,
    async onEvent({ type, sandboxId, sandboxName }) {
      try {
        await client.workflow.getHandle(sandboxName).signal(sandboxSignal, { type, sandboxId });
      } catch (error) {
        // The workflow has ended, so nobody waits for the event.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  });
  return {
    url: server.url,
    async close() {
      await server.close();
      await connection.close();
    },
  };
});
