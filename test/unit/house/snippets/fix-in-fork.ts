import { connectTemporal, findTemporal, readConfig, startJob } from '../../../../src/index.js';

/** Prompts an agent in a fork of `sandboxId`. An id starts one job: a second call waits for the first one's result. */
export async function fixInFork(jobId: string, sandboxId: string, prompt: string) {
  const config = readConfig();
  const client = await connectTemporal(await findTemporal(config));
  const source = { kind: 'fork', sandboxId } as const;
  const job = { deployment: config.deployment, jobId, source, prompts: [{ prompt, provider: 'codex' }] };
  const { handle } = await startJob(client, job, { taskQueue: config.taskQueue });
  const { outcome, prompts, left } = await handle.result();
  await client.connection.close();
  return { outcome, answer: prompts[0]?.result, left };
}
