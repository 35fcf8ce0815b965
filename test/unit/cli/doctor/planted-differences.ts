/** Differences of a service from the register, each with the assumptions that it refutes. */
import type { Plant } from './probe-stand.js';

type Json = Record<string, unknown>;
const of = (value: unknown) => (value ?? {}) as Json;
const bodyOf = (text: string): Json => (text === '' ? {} : JSON.parse(text));
const without = (text: string, name: string) => {
  const { [name]: _, ...rest } = bodyOf(text);
  return JSON.stringify(rest);
};
const isCreate = ({ method, url }: { method: string; url: string }) =>
  method === 'POST' && /\/sandboxes(\/\w+\/fork)?$/.test(url);
const is = (method: string, end: RegExp) => (request: { method: string; url: string }) =>
  request.method === method && end.test(request.url.split('?')[0] ?? '');
const isEvents = is('GET', /\/events$/);
const isUuid = (key: unknown) => /^[0-9a-f-]{36}$/.test(String(key));
const refused = { body: '{' };

export interface Difference {
  readonly refutes: readonly string[];
  /** Part of what the finding says. */
  readonly says: string;
  /** Assumptions that can no longer be tried. */
  readonly hides?: readonly string[];
  /** Made for each run, because some remember. */
  readonly plant: () => Plant;
}

export const differences: Readonly<Record<string, Difference>> = {
  'another header family': {
    refutes: ['A-header-family'],
    says: 'SANDBOX_API_HEADER_PREFIX=x-box-',
    plant: () => ({
      request: ({ headers: { 'x-box-confirm-delete': box, 'x-svc-confirm-delete': _, ...headers } }) => ({
        headers: box === undefined ? headers : { ...headers, 'x-svc-confirm-delete': box },
      }),
      answer({ body }) {
        if (typeof body.message === 'string') body.message = body.message.replace('X-Svc-', 'X-Box-');
      },
    }),
  },
  'no name kept': {
    refutes: ['A-create-fields'],
    says: 'not kept',
    plant: () => ({ request: (request) => (isCreate(request) ? { body: without(request.body, 'name') } : {}) }),
  },
  'numeric ids of events': {
    refutes: ['A-event-ids'],
    says: 'a number',
    plant: () => ({
      answer({ body }, request) {
        if (isEvents(request)) body.events = (body.events as Json[]).map((event, index) => ({ ...event, id: index }));
      },
    }),
  },
  'the newest event first': {
    refutes: ['A-events'],
    says: 'oldest event',
    plant: () => ({
      answer({ body }, request) {
        if (isEvents(request) && !request.url.includes('?')) (body.events as Json[]).reverse();
      },
    }),
  },
  'no promptId': {
    refutes: ['A-prompt-id'],
    says: 'promptId is missing',
    hides: ['A-prompt-record', 'A-model-names'],
    plant: () => ({
      answer({ body }) {
        delete body.promptId;
      },
    }),
  },
  'other words for statuses': {
    refutes: ['A-prompt-record'],
    says: 'succeeded',
    plant: () => ({
      answer({ body }) {
        if (of(body.prompt).status === 'completed') of(body.prompt).status = 'succeeded';
      },
    }),
  },
  'a list that is paged by another name': {
    refutes: ['A-paging'],
    says: 'nextCursor is missing; the answer has sandboxes, ok, type, next',
    plant: () => ({
      answer({ body }) {
        if ('nextCursor' in body) body.next = body.nextCursor;
        delete body.nextCursor;
      },
    }),
  },
  'a stop under another key': {
    refutes: ['A-stop-answer'],
    says: 'stop is missing; the answer has id, ok, type, stopOperation',
    plant: () => ({
      answer({ body }, request) {
        if (!is('POST', /\/stop$/)(request) || body.stop === undefined) return;
        body.stopOperation = body.stop;
        delete body.stop;
      },
    }),
  },
  'another body accepted for a key': {
    refutes: ['A-idempotency-body'],
    says: 'another body is accepted',
    plant: () => ({ request: (request) => (isCreate(request) ? { body: without(request.body, 'monitoring') } : {}) }),
  },
  'an archiveAfter that does not move': {
    refutes: ['A-auto-stop-renewal'],
    says: 'does not move by an update',
    plant: () => {
      let first: unknown;
      return {
        answer({ body }) {
          const sandbox = of(body.sandbox);
          if (typeof sandbox.archiveAfter === 'string') sandbox.archiveAfter = first ??= sandbox.archiveAfter;
        },
      };
    },
  },
  'no operationId': {
    refutes: ['A-deletion-operation'],
    says: 'operationId is missing',
    plant: () => ({
      answer({ body }) {
        delete body.operationId;
      },
    }),
  },
  'a refused name': {
    refutes: ['A-request-form'],
    says: 'SANDBOX_API_OMIT=name',
    hides: ['A-create-fields'],
    plant: () => ({ request: (request) => (isCreate(request) && 'name' in bodyOf(request.body) ? refused : {}) }),
  },
  'keys that must be UUIDs': {
    refutes: ['A-request-form'],
    says: 'SANDBOX_API_UUID_KEYS=true',
    plant: () => ({
      request: (request) => (isCreate(request) && !isUuid(request.headers['idempotency-key']) ? refused : {}),
    }),
  },
  'another creator': {
    refutes: ['A-created-by'],
    says: 'not the login',
    plant: () => ({
      answer({ body }) {
        if (body.sandbox) of(body.sandbox).createdBy = 'Somebody Else';
      },
    }),
  },
  'the key of a deleted sandbox is free again': {
    refutes: ['A-deleted-key'],
    says: 'does not name it',
    plant: () => {
      let isDeleted = false;
      return {
        request: (request) => {
          const { 'idempotency-key': key, ...headers } = request.headers;
          return isCreate(request) && isDeleted ? { headers } : {};
        },
        answer({ status }, { method }) {
          isDeleted ||= method === 'DELETE' && status < 300;
        },
      };
    },
  },
};

/** Several differences at once. */
export function together(names: readonly string[]): Plant {
  const plants = names.flatMap((name) => differences[name]?.plant() ?? []);
  return {
    request(given) {
      let request = given;
      for (const { request: change } of plants) request = Object.assign({}, request, change?.(request));
      return request;
    },
    answer(shown, request) {
      for (const { answer } of plants) answer?.(shown, request);
    },
  };
}
