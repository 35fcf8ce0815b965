/** The endpoints that the peers call, and those of the bench. */
import { randomBytes } from 'node:crypto';
import { type Books, createBooks, type ServiceFaults } from './books.js';
import { createDeliveries, type Webhook } from './deliveries.js';
import { createSandboxes, type Delays, promptRecord, type SandboxEntry, stopRecord } from './sandboxes.js';

export interface Call {
  readonly method: string;
  /** Path below the base address, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The bearer token: it tells who calls. */
  readonly key: string;
  readonly idempotencyKey: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status: number;
  readonly json: string;
  /** True if the connection is to break in place of the answer. */
  readonly isLost?: boolean;
}

const noFaults: ServiceFaults = { webhooks: 'none', loseFirstAnswer: null };

export function createRoutes(delays: Delays) {
  const deliveries = createDeliveries();
  const sandboxes = createSandboxes(delays, deliveries.announce);
  const books = createBooks();
  const keyed = new Map<string, SandboxEntry>();
  const lostOnce = new Set<string>();
  let faults = noFaults;

  function createdAs(call: Call): { readonly entry: SandboxEntry; readonly isLost: boolean } {
    const name = String(call.body.name ?? 'sandbox');
    const known = call.idempotencyKey === undefined ? undefined : keyed.get(call.idempotencyKey);
    const entry = known ?? sandboxes.add(name);
    if (call.idempotencyKey !== undefined) keyed.set(call.idempotencyKey, entry);
    return { entry, isLost: losesFirst('createSandbox', name) };
  }

  function losesFirst(endpoint: ServiceFaults['loseFirstAnswer'], what: string): boolean {
    if (faults.loseFirstAnswer !== endpoint || lostOnce.has(`${endpoint} ${what}`)) return false;
    lostOnce.add(`${endpoint} ${what}`);
    return true;
  }

  function ofSandbox(call: Call, entry: SandboxEntry, rest: readonly string[]): Answer | undefined {
    const [what, id] = rest;
    const route = `${call.method} ${what ?? ''}`;
    const counted = (endpoint: string) => books.count(call.key, endpoint);
    if (route === 'GET ') {
      counted('getSandbox');
      return { status: 200, json: `{"ok":true,"type":"sandbox.info","sandbox":${entry.json}}` };
    }
    if (route === 'POST prompt') {
      counted('sendPrompt');
      if (!['ready', 'running', 'idle'].includes(entry.state)) return refusal(409, 'sandbox_not_promptable');
      const text = String(call.body.prompt);
      const made = sandboxes.prompt(entry, text, call.body.conversationId as string | undefined);
      const { id: promptId, conversationId } = made;
      const isLost = losesFirst('sendPrompt', entry.id);
      return { ...success(202, 'prompt.queued', { promptId, conversationId }), isLost };
    }
    if (route === 'GET prompts') {
      counted('getPrompt');
      const prompt = entry.prompts.find((one) => one.id === id);
      return prompt && success(200, 'prompt.status', { prompt: promptRecord(entry, prompt) });
    }
    if (route === 'GET events') {
      counted('listEvents');
      const after = call.query.get('after');
      const from = after === null ? 0 : entry.events.findIndex((event) => (event as { id: string }).id === after) + 1;
      return success(200, 'event.list', { events: entry.events.slice(from) });
    }
    if (route === 'POST stop') {
      counted('stopSandbox');
      sandboxes.stop(entry);
      return success(202, 'sandbox.stopping', { id: entry.stop?.id, stop: stopRecord(entry) });
    }
    if (route === 'GET stops') {
      counted('getStop');
      return entry.stop?.id === id ? success(200, 'stop.status', { id, stop: stopRecord(entry) }) : undefined;
    }
    if (route === 'POST fork') {
      counted('forkSandbox');
      const { entry: fork, isLost } = createdAs(call);
      const json = `{"ok":true,"type":"sandbox.created","sourceSandboxId":"${entry.id}","sandbox":${fork.json}}`;
      return { status: 202, json, isLost };
    }
    return undefined;
  }

  function ofWebhooks(call: Call): Answer | undefined {
    books.count(call.key, 'webhooks');
    const shown = ({ secret: _, ...webhook }: Webhook) => webhook;
    if (call.method === 'GET') {
      return success(200, 'webhook.list', { webhooks: [...deliveries.webhooks.values()].map(shown) });
    }
    if (call.method !== 'POST') return undefined;
    const { name, url, events } = call.body as Pick<Webhook, 'name' | 'url' | 'events'>;
    const id = `wh_${randomBytes(12).toString('hex')}`;
    const secret = `whsec_${randomBytes(24).toString('hex')}`;
    const webhook = { id, name, url, events, createdAt: new Date().toISOString(), secret };
    deliveries.webhooks.set(id, webhook);
    return success(201, 'webhook.created', { webhook: shown(webhook), secret });
  }

  function ofBench(call: Call): Answer | undefined {
    const seen: Books = books.read(sandboxes.byId.values(), deliveries.sent);
    // As the local service answers it, for `book-reader.ts`.
    if (call.path === '/_local/books/summary')
      return { status: 200, json: JSON.stringify({ summary: { byEndpoint: seen.calls[call.key] ?? {} } }) };
    if (call.path === '/_bench/books') return { status: 200, json: JSON.stringify(seen) };
    if (call.path === '/_bench/forget') books.forget(sandboxes.byId);
    else if (call.path === '/_bench/faults') {
      faults = { ...noFaults, ...call.body };
      deliveries.setFault(faults.webhooks);
    } else return undefined;
    return { status: 200, json: '{}' };
  }

  return {
    answer(call: Call): Answer {
      const [area, id, ...rest] = call.path.split('/').slice(1);
      if (area === '_bench' || area === '_local') return ofBench(call) ?? refusal(404, 'not_found');
      if (area === 'webhooks') return ofWebhooks(call) ?? refusal(404, 'not_found');
      if (area === 'sandboxes' && id === undefined) {
        if (call.method === 'GET') {
          books.count(call.key, 'listSandboxes');
          const all = [...sandboxes.byId.values()].map(({ json }) => json).join(',');
          return { status: 200, json: `{"ok":true,"type":"sandbox.list","sandboxes":[${all}]}` };
        }
        books.count(call.key, 'createSandbox');
        const { entry, isLost } = createdAs(call);
        return { status: 202, json: `{"ok":true,"type":"sandbox.created","sandbox":${entry.json}}`, isLost };
      }
      const entry = area === 'sandboxes' && id !== undefined ? sandboxes.byId.get(id) : undefined;
      const answer = entry && ofSandbox(call, entry, rest);
      if (!answer) books.count(call.key, `refused ${call.method} ${rest[0] ?? area}`);
      return answer ?? refusal(404, 'not_found');
    },
    close: () => deliveries.close(),
  };
}

function success(status: number, type: string, rest: object): Answer {
  return { status, json: JSON.stringify({ ok: true, type, ...rest }) };
}

function refusal(status: number, code: string): Answer {
  const message = 'Refused.';
  const error = { code, message, status };
  const requestId = `req_${randomBytes(6).toString('hex')}`;
  return {
    status,
    json: JSON.stringify({ ok: false, type: 'sandbox.error', status, code, message, error, requestId }),
  };
}
