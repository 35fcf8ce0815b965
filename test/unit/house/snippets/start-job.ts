import { connectTemporal, readConfig, startJob } from '../../../../src/index.js';

/** Reviews the last change in a fresh sandbox. The same job id never starts twice. */
export async function review(jobId: string): Promise<string | null> {
  const { temporal, deployment, taskQueue } = readConfig();
  const client = await connectTemporal(temporal.connect);
  try {
    const job = {
      deployment,
      jobId,
      source: { kind: 'create', body: { environment: 'website' } },
      prompts: [{ prompt: 'Review the last change.', provider: 'codex' }],
      collect: ['review.md'],
    } as const;
    const { handle } = await startJob(client, job, { taskQueue });
    const { outcome, prompts } = await handle.result();
    return outcome === 'completed' ? (prompts[0]?.result ?? null) : null;
  } finally {
    await client.connection.close();
  }
}
