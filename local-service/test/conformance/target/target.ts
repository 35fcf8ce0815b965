/** Calls the service under test with plain fetch, so that our client cannot hide a mistake. */
import { vi } from 'vitest';
import type { Prompt, Sandbox } from '../../../../src/contract/index.js';
import type { Answer, AnswerBody, CallOptions } from './answer.js';
import { checkAnswer } from './check-answer.js';
import type { Address } from './remote.js';

export interface Target {
  /** Base URL with the version. */
  readonly url: string;
  readonly key: string;
  /** Makes one call, and checks the answer against the contract and the envelope of the specification. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a sandbox and returns its id. */
  create(body?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Waits until a sandbox is in one of these states, and returns it. */
  reach(sandboxId: string, ...states: readonly string[]): Promise<Sandbox>;
  /** Creates a sandbox and waits until it is ready. */
  ready(body?: Readonly<Record<string, unknown>>): Promise<string>;
  prompt(sandboxId: string, text: string, more?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Waits until a prompt has ended, and returns it. */
  promptEnd(sandboxId: string, promptId: string): Promise<Prompt>;
  /** Stops a sandbox, waits until it is archived, and returns it. */
  archive(sandboxId: string): Promise<Sandbox>;
  /** Deletes the sandboxes and webhooks that were created through this target. */
  cleanUp(): Promise<void>;
}

export interface TargetOptions {
  /** How long `reach` and `promptEnd` wait. */
  readonly patienceMs: number;
  /** Between two reads of a wait. */
  readonly intervalMs: number;
}

/** @param address is read at each call, so a target can be created before its service listens */
export function createTarget(address: () => Address, options: TargetOptions): Target {
  const made = new Map<string, Readonly<Record<string, string>>>();

  async function call(method: string, path: string, request: CallOptions = {}): Promise<Answer> {
    const { body, rawBody, headers, key = address().key, base } = request;
    const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${base ?? address().url}${path}`, {
      method,
      body: sent,
      redirect: 'manual',
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString();
    const contentType = response.headers.get('content-type') ?? '';
    const json: unknown = contentType.startsWith('application/json') ? JSON.parse(text) : undefined;
    if (base === undefined) checkAnswer({ method, path, status: response.status, json, contentType });
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (json ?? {}) as AnswerBody,
      bytes,
      text,
    };
    remember(method, path, answer);
    return answer;
  }

  function remember(method: string, path: string, { status, body }: Answer): void {
    if (method !== 'POST' || status >= 300) return;
    if (/^\/sandboxes(\/\w+\/fork)?$/.test(path)) {
      made.set(`/sandboxes/${body.sandbox.id}`, { 'x-svc-confirm-delete': body.sandbox.id });
    }
    if (path === '/webhooks') made.set(`/webhooks/${body.webhook.id}`, {});
  }

  function waitFor<Found>(path: string, find: (body: AnswerBody) => Found | undefined): Promise<Found> {
    return vi.waitFor(
      async () => {
        const { body } = await call('GET', path);
        const found = find(body);
        if (found === undefined) throw new Error(`not yet: ${JSON.stringify(body)}`);
        return found;
      },
      { timeout: options.patienceMs, interval: options.intervalMs },
    );
  }

  const target: Target = {
    get url() {
      return address().url;
    },
    get key() {
      return address().key;
    },
    call,
    async create(body = {}) {
      const { body: answer, status, text } = await call('POST', '/sandboxes', { body });
      if (status !== 202) throw new Error(`Create answered ${status}: ${text}`);
      return answer.sandbox.id;
    },
    reach: (id, ...states) =>
      waitFor(`/sandboxes/${id}`, ({ sandbox }) => (states.includes(sandbox?.state) ? sandbox : undefined)),
    async ready(body) {
      const id = await target.create(body);
      await target.reach(id, 'ready');
      return id;
    },
    prompt: (id, text, more = {}) => call('POST', `/sandboxes/${id}/prompt`, { body: { prompt: text, ...more } }),
    promptEnd: (id, promptId) =>
      waitFor(`/sandboxes/${id}/prompts/${promptId}`, ({ prompt }) => (prompt?.endedAt ? prompt : undefined)),
    async archive(id) {
      await call('POST', `/sandboxes/${id}/stop`);
      return target.reach(id, 'archived');
    },
    async cleanUp() {
      for (const [path, headers] of made) await call('DELETE', path, { headers });
      made.clear();
    },
  };
  return target;
}
