/** An item of a batch as a script that knows nothing of Temporal or webhooks: a fork, and a loop that asks every 500 ms. */
import type { SandboxClient } from '../../src/client/index.js';
import { promptAndStop } from './polling-script.js';

export async function runForkingScript(api: SandboxClient, sourceId: string, prompt: string): Promise<void> {
  const { sandbox } = await api.forkSandbox(sourceId, {});
  await promptAndStop(api, sandbox.id, prompt);
}
