/** The service as a plain program calls it: undici, and an error for every answer that is not a success. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** The interval of all polls: the shortest of sandflow. */
export const pollMs = 500;

export interface PlainSandbox {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly stop: { readonly status: string } | null;
}

export type PlainApi = ReturnType<typeof createPlainApi>;

export interface PlainApiOptions {
  readonly serviceUrl: string;
  readonly apiKey: string;
  /** How often a call is tried that fails without an answer. Default: once, because an engine repeats it. */
  readonly attempts?: number;
}

export function createPlainApi({ serviceUrl, apiKey, attempts = 1 }: PlainApiOptions) {
  const { origin, pathname } = new URL(serviceUrl);
  const pool = new Pool(origin, { connections: 256 });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

  async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const request = { method, path: `${pathname}${path}`, headers, body: body && JSON.stringify(body) };
    const { statusCode, body: answer } = await tried(() => pool.request(request), attempts);
    if (statusCode < 300) return (await answer.json()) as T;
    throw new Error(`${method} ${path} answered ${statusCode}: ${await answer.text()}`);
  }

  return {
    create: async (name: string) => (await call<OfSandbox>('POST', '/sandboxes', { name })).sandbox,
    fork: async (id: string, name: string) =>
      (await call<OfSandbox>('POST', `/sandboxes/${id}/fork`, { name })).sandbox,
    get: async (id: string) => (await call<OfSandbox>('GET', `/sandboxes/${id}`)).sandbox,
    list: async () => (await call<{ readonly sandboxes: readonly PlainSandbox[] }>('GET', '/sandboxes')).sandboxes,
    prompt: (id: string, prompt: string) =>
      call<{ readonly promptId: string }>('POST', `/sandboxes/${id}/prompt`, { prompt }),
    getPrompt: (id: string, promptId: string) =>
      call<{ readonly prompt: { readonly status: string } }>('GET', `/sandboxes/${id}/prompts/${promptId}`),
    events: (id: string) => call<object>('GET', `/sandboxes/${id}/events`),
    stop: (id: string) => call<object>('POST', `/sandboxes/${id}/stop`),
    registerWebhook: (url: string) => {
      const events = ['sandbox.ready', 'sandbox.archived'];
      return call<{ readonly secret: string }>('POST', '/webhooks', { name: 'plain', url, events });
    },
    close: () => pool.destroy(),
  };
}

async function tried<T>(send: () => Promise<T>, attempts: number): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (attempt >= attempts) throw error;
      await sleep(1_000);
    }
  }
}

interface OfSandbox {
  readonly sandbox: PlainSandbox;
}

export const isUsable = ({ state }: PlainSandbox) => state === 'ready' || state === 'idle' || state === 'running';
