/** The same job as a script without Temporal or webhooks: it polls every 500 ms. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxClient } from '../../src/client/index.js';
import { isFinalPromptStatus, isUsable } from '../../src/contract/workflow-safe/states.js';

const pollMs = 500;

export async function runPollingScript(api: SandboxClient, prompt: string): Promise<void> {
  const { sandbox } = await api.createSandbox({});
  await promptAndStop(api, sandbox.id, prompt);
}

/** Waits until the sandbox is usable, runs the prompt, and stops the sandbox. Returns when it is archived. */
export async function promptAndStop(api: SandboxClient, sandboxId: string, prompt: string): Promise<void> {
  await poll(async () => isUsable((await api.getSandbox(sandboxId)).sandbox.state));
  const { promptId } = await api.sendPrompt(sandboxId, { prompt });
  if (!promptId) throw new Error('The answer to the prompt holds no id.');
  await poll(async () => isFinalPromptStatus((await api.getPrompt(sandboxId, promptId)).prompt.status));
  await api.stopSandbox(sandboxId);
  await poll(async () => (await api.getSandbox(sandboxId)).sandbox.stop?.status === 'completed');
}

async function poll(isDone: () => Promise<boolean>): Promise<void> {
  do await sleep(pollMs);
  while (!(await isDone()));
}
