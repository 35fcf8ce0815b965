/** The job as scripts do it: with polls, and with webhooks that wake promises. Nothing is kept on disk. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isUsable, type PlainApi, type PlainSandbox, pollMs } from './api.js';
import { createSharedList } from './shared-list.js';
import type { PlainEvent } from './webhook-server.js';

export interface ScriptJob {
  readonly name: string;
  readonly prompt: string;
  /** Forks this sandbox. Default: creates one. */
  readonly sourceId?: string;
}

interface Script {
  runJob(job: ScriptJob): Promise<void>;
  onEvent(event: PlainEvent): void;
}

export function createPollingJob(api: PlainApi): Script {
  async function until(id: string, isDone: (sandbox: PlainSandbox) => boolean): Promise<void> {
    do await sleep(pollMs);
    while (!isDone(await api.get(id)));
  }
  return {
    async runJob(job) {
      const { id } = await obtain(api, job);
      await until(id, isUsable);
      await api.prompt(id, job.prompt);
      await until(id, ({ state }) => state === 'idle');
      await api.stop(id);
      await until(id, ({ stop }) => stop?.status === 'completed');
    },
    onEvent: () => undefined,
  };
}

export function createWebhookJob(api: PlainApi): Script {
  const list = createSharedList(api);
  const seen = new Set<string>();
  const waiting = new Map<string, () => void>();
  function happened(event: string): Promise<void> {
    return new Promise((resolve) => {
      if (seen.delete(event)) resolve();
      else waiting.set(event, resolve);
    });
  }
  return {
    async runJob(job) {
      const { id } = await obtain(api, job);
      await happened(`sandbox.ready ${id}`);
      await api.prompt(id, job.prompt);
      await list.promptEnded(id);
      await api.stop(id);
      await happened(`sandbox.archived ${id}`);
      const { stop } = await api.get(id);
      if (stop?.status !== 'completed') throw new Error('The sandbox is not archived.');
    },
    onEvent({ type, sandboxId }) {
      const event = `${type} ${sandboxId}`;
      const wake = waiting.get(event);
      waiting.delete(event);
      if (wake) wake();
      else seen.add(event);
    },
  };
}

function obtain(api: PlainApi, { name, sourceId }: ScriptJob): Promise<PlainSandbox> {
  return sourceId === undefined ? api.create(name) : api.fork(sourceId, name);
}
