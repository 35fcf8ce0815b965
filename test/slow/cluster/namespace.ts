/** Creates the namespace of a cluster, as its administrator does. */
import { readConfig } from '../../../src/config.js';
import { connectTemporal } from '../../../src/temporal/connect.js';

const retentionSeconds = 14 * 86_400;

export async function createNamespace(namespace: string, env: Readonly<Record<string, string>>): Promise<void> {
  const client = await connectTemporal(readConfig(env).temporal.connect);
  try {
    const workflowExecutionRetentionPeriod = { seconds: retentionSeconds as never };
    await client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  } finally {
    await client.connection.close();
  }
}
