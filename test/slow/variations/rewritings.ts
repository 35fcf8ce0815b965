/** Ways in which a proxy makes the answers of a service differ. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import type { Answer, Json, Request, Rewriting } from './rewriting-proxy.js';

type Endpoints = EndpointName | readonly EndpointName[];
const isOf = (endpoints: Endpoints, { endpoint }: Request) => [endpoints].flat().some((one) => one === endpoint);
export const part = (value: unknown) => (value ?? {}) as Json;

/** Changes the JSON of an endpoint's answers of the 2xx family. */
export const inAnswers =
  (endpoints: Endpoints, change: (body: Json, answer: Answer, request: Request) => void) => (): Rewriting => ({
    answer(answer, request) {
      if (isOf(endpoints, request) && answer.status < 300 && answer.body) change(answer.body, answer, request);
    },
  });

/** Changes every sandbox in any answer. */
export const inSandboxes = (change: (sandbox: Json) => void) => (): Rewriting => ({
  answer({ body, status }) {
    if (status >= 300) return;
    for (const sandbox of [part(body).sandbox, part(body).sandboxes].flat()) if (sandbox) change(sandbox as Json);
  },
});

/** Changes every event of histories. */
export const inEvents = (change: (event: Json, at: number) => Json | undefined) =>
  inAnswers('listEvents', (body) => {
    body.events = (body.events as Json[]).map((event, at) => change(event, at) ?? event);
  });

/** Changes the record of a prompt. */
export const inPrompts = (change: (prompt: Json, body: Json) => void) =>
  inAnswers('getPrompt', (body) => change(part(body.prompt), body));

/** Changes the answers that are refusals. */
export const inRefusals = (change: (body: Json, answer: Answer) => void) => (): Rewriting => ({
  answer(answer) {
    if (answer.status >= 400 && answer.body) change(answer.body, answer);
  },
});

export function refusal(status: number, code: string, message = 'It is refused'): Answer {
  const body = { ok: false, type: 'sandbox.error', status, code, message, error: { code, message, status } };
  return { status, headers: { 'content-type': 'application/json' }, body, bytes: Buffer.alloc(0) };
}

export function page(status: number): Answer {
  const bytes = Buffer.from('<html><body>No such page</body></html>');
  return { status, headers: { 'content-type': 'text/html' }, body: undefined, bytes };
}

/** Answers an endpoint without asking the service, as long as `give` gives an answer. */
export const instead = (endpoints: Endpoints, give: (request: Request) => Answer | undefined) => (): Rewriting => ({
  request: (request) => (isOf(endpoints, request) ? give(request) : undefined),
});

/** Refuses the first requests of an endpoint. */
export const atFirst = (endpoints: Endpoints, times: number, answer: () => Answer) => (): Rewriting => {
  const counts = new Map<string, number>();
  return {
    request(request) {
      if (!isOf(endpoints, request)) return undefined;
      const count = (counts.get(request.path) ?? 0) + 1;
      counts.set(request.path, count);
      return count <= times ? answer() : undefined;
    },
  };
};

/** Sends lists in pages. `tell` gives fields for the answer, or the header `Link`; the proxy reads all parameters. */
export const paged =
  (endpoint: 'listSandboxes' | 'listEvents', tell: (next: Next) => Json, size = 2) =>
  (): Rewriting => {
    const rowsIn = endpoint === 'listSandboxes' ? 'sandboxes' : 'events';
    const asked = new WeakMap<Request, number>();
    return {
      request(request) {
        if (!isOf(endpoint, request)) return undefined;
        const { query } = request;
        const number = (name: string) => (query.has(name) ? Number(query.get(name)?.replace(/^at-/, '')) : undefined);
        const at = number('cursor') ?? number('page_token') ?? number('offset') ?? ((number('page') ?? 1) - 1) * size;
        asked.set(request, at);
        for (const name of ['after', 'cursor', 'page_token', 'offset', 'page', 'limit']) query.delete(name);
        return undefined;
      },
      answer({ status, headers, body }, request) {
        const at = asked.get(request);
        if (at === undefined || status >= 300 || !body) return;
        const rows = body[rowsIn] as Json[];
        delete body.nextCursor;
        const url = (query: string) => `${request.path}?${query}`;
        const { Link, ...fields } = tell({ at, size, isLast: at + size >= rows.length, total: rows.length, url });
        Object.assign(body, fields, { [rowsIn]: rows.slice(at, at + size) });
        if (typeof Link === 'string') headers.link = Link;
      },
    };
  };

export interface Next {
  readonly at: number;
  readonly size: number;
  readonly isLast: boolean;
  readonly total: number;
  readonly url: (query: string) => string;
}

/** Shows an answer that is this old to twice as old, if there is one. */
export const stale = (endpoint: EndpointName, lagMs: number) => (): Rewriting => {
  const seen: {
    readonly key: string;
    readonly ageMs: () => number;
    readonly shown: string;
    readonly status: number;
  }[] = [];
  return {
    answer(answer, request) {
      if (!isOf(endpoint, request) || !answer.body) return;
      const key = `${request.path}?${request.query}`;
      const old = seen.findLast((one) => one.key === key && one.ageMs() >= lagMs);
      const atMs = Date.now();
      seen.push({ key, ageMs: () => Date.now() - atMs, shown: JSON.stringify(answer.body), status: answer.status });
      if (old && old.ageMs() < 2 * lagMs) Object.assign(answer, { body: JSON.parse(old.shown), status: old.status });
    },
  };
};

/** The differences of several at once. */
export const both =
  (...rewritings: readonly (() => Rewriting)[]) =>
  (): Rewriting => {
    const made = rewritings.map((make) => make());
    return {
      request(request) {
        let answer: Answer | undefined;
        for (const { request: change } of made) answer ??= change?.(request);
        return answer;
      },
      async answer(answer, request) {
        for (const { answer: change } of made) await change?.(answer, request);
      },
    };
  };

/** An answer without a body. */
export const empty = (answer: Answer) =>
  void Object.assign(answer, { status: 204, body: undefined, bytes: Buffer.alloc(0) });

export const slow = (ms: number) => (): Rewriting => ({ answer: () => sleep(ms) });

export const gzipped = (): Rewriting => ({
  answer(answer) {
    const bytes = answer.body === undefined ? answer.bytes : Buffer.from(JSON.stringify(answer.body));
    Object.assign(answer, { bytes: gzipSync(bytes), body: undefined });
    answer.headers['content-encoding'] = 'gzip';
  },
});
