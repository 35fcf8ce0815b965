/** One read of the list for everybody who waits for the end of a prompt, as often as sandflow reads it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PlainApi, type PlainSandbox, pollMs } from './api.js';

export function createSharedList(api: Pick<PlainApi, 'list'>) {
  const waiting = new Map<string, () => void>();
  let isRunning = false;
  let lastReadMs = 0;

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      await sleep(Math.max(0, lastReadMs + pollMs - Date.now()));
      lastReadMs = Date.now();
      const before = new Set(waiting.keys());
      const all = await api.list().catch((): readonly PlainSandbox[] => []);
      for (const { id, state } of all) if (before.has(id) && state !== 'running') waiting.get(id)?.();
    }
    isRunning = false;
  }

  return {
    /** Resolves when the sandbox works on no prompt. */
    promptEnded(sandboxId: string): Promise<void> {
      return new Promise((resolve) => {
        waiting.set(sandboxId, () => {
          waiting.delete(sandboxId);
          resolve();
        });
        if (isRunning) return;
        isRunning = true;
        void run();
      });
    },
  };
}
