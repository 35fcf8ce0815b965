/** The activities of the peers that use plain Temporal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { heartbeat } from '@temporalio/activity';
import { isUsable, type PlainApi, pollMs } from './api.js';
import { createSharedList } from './shared-list.js';

export type PlainActivities = ReturnType<typeof createPlainActivities>;

const beatMs = 2_000;

export function createPlainActivities(api: PlainApi) {
  const list = createSharedList(api);
  async function promptToEnd(sandboxId: string, text: string): Promise<void> {
    const { promptId } = await api.prompt(sandboxId, text);
    await list.promptEnded(sandboxId);
    const { prompt } = await api.getPrompt(sandboxId, promptId);
    if (prompt.status !== 'completed') throw new Error('The prompt has not completed.');
    await api.events(sandboxId);
  }
  return {
    create: async (name: string) => (await api.create(name)).id,
    fork: async (sourceId: string, name: string) => (await api.fork(sourceId, name)).id,
    prompt: async (sandboxId: string, text: string) => (await api.prompt(sandboxId, text)).promptId,
    /** Sends a prompt, waits for its end, and reads what sandflow reads: the answer and the transcript. */
    promptToEnd: (sandboxId: string, text: string) => beating(promptToEnd(sandboxId, text)),
    stop: async (sandboxId: string) => void (await api.stop(sandboxId)),
    confirm: async (sandboxId: string) => {
      const { stop } = await api.get(sandboxId);
      if (stop?.status !== 'completed') throw new Error('The sandbox is not archived.');
    },
    awaitUsable: (sandboxId: string) => beating(polled(async () => isUsable(await api.get(sandboxId)))),
    awaitIdle: (sandboxId: string) => beating(polled(async () => (await api.get(sandboxId)).state === 'idle')),
    awaitArchived: (sandboxId: string) =>
      beating(polled(async () => (await api.get(sandboxId)).stop?.status === 'completed')),
  };
}

async function beating(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => heartbeat(), beatMs);
  await work.finally(() => clearInterval(timer));
}

async function polled(isDone: () => Promise<boolean>): Promise<void> {
  do await sleep(pollMs);
  while (!(await isDone()));
}
