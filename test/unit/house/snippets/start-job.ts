import { connectTemporal, readConfig, startJob } from '../../../../src/index.js';

/** Reviews the last change in a fresh sandbox. The same job id never starts twice. */
export async function review(jobId: string): Promise<string | null> {
  const { temporal, deployment, taskQueue } = readConfig();
  const client = await connectTemporal(temporal.connect);
  try {
    const { handle } = await startJob(
      client,
      {
        deployment,
        jobId,
        source: { kind: 'create', body: { environment: 'website' } },
        waitFor: 'usable',
        put: [],
        prompts: [{ prompt: 'Review the last change.', provider: 'codex' }],
        conversations: 'one',
        collect: ['review.md'],
        end: 'stop',
        deadlineMs: 3_600_000,
        ttlSeconds: 1_800,
        onUnknownOutcome: 'wait',
        maxGenerations: 3,
      },
      { taskQueue },
    );
    const { outcome, prompts } = await handle.result();
    return outcome === 'completed' ? (prompts[0]?.result ?? null) : null;
  } finally {
    await client.connection.close();
  }
}
