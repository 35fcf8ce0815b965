import { awaitFanout, connectTemporal, findTemporal, readConfig, submitFanout } from '../../../../src/index.js';

/** Fixes each issue in a fork of one sandbox, ten at a time, and returns how many succeeded. The same batch id never starts twice. */
export async function fixAll(batchId: string, sandboxId: string, issues: readonly string[]): Promise<number> {
  const config = readConfig();
  const { deployment, taskQueue } = config;
  const client = await connectTemporal(await findTemporal(config));
  try {
    const policy = { concurrency: 10, retries: 1, itemDeadlineMs: 1_800_000, budgetSeconds: 360_000 };
    const source = { kind: 'sandbox', sandboxId, allowStale: false } as const;
    const items = issues.map((issue, at) => ({ id: `issue-${at + 1}`, prompts: [{ prompt: `Fix this: ${issue}` }] }));
    await submitFanout(client, { deployment, batchId, source, policy }, items, { taskQueue });
    const { counts } = await awaitFanout(client, { deployment, batchId });
    return counts.completed;
  } finally {
    await client.connection.close();
  }
}
