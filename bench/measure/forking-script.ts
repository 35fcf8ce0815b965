/** An item of a batch as a script without Temporal or webhooks: it forks a sandbox and polls every 500 ms. */
import type { SandboxClient } from '../../src/client/index.js';
import { promptAndStop } from './polling-script.js';

export async function runForkingScript(api: SandboxClient, sourceId: string, prompt: string): Promise<void> {
  const { sandbox } = await api.forkSandbox(sourceId, {});
  await promptAndStop(api, sandbox.id, prompt);
}
