import { connectTemporal, findTemporal, readConfig, startJob } from '../../../../src/index.js';

/** Asks for a review in a fresh sandbox, and returns it. The same job id never starts twice. */
export async function review(jobId: string): Promise<string> {
  const config = readConfig();
  const { deployment, taskQueue } = config;
  const client = await connectTemporal(await findTemporal(config));
  try {
    const prompts = [{ prompt: 'Review the last change.', provider: 'codex' }];
    const { handle } = await startJob(client, { deployment, jobId, prompts }, { taskQueue });
    const { outcome, prompts: answers, error } = await handle.result();
    if (outcome !== 'completed') throw new Error(`The job ended as ${outcome}: ${error?.message}`);
    return answers[0]?.result ?? '';
  } finally {
    await client.connection.close();
  }
}
