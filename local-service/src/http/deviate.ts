/** Applies the deviations that are shapes, to requests before their operation and to answers before they are sent. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../core/context.js';
import type { Json, Sent, Shown } from '../deviations/deviation.js';
import { deviationNames, deviations } from '../deviations/deviations.js';
import { callOf } from './call.js';
import { surfaceOf } from './surface.js';

export function applyDeviations(server: FastifyInstance, context: Context): void {
  // The order of the table: what takes fields away comes last.
  const shapes = deviationNames.flatMap((name) => {
    const deviation = deviations[name];
    return context.deviations.has(name) && typeof deviation === 'object' ? [deviation] : [];
  });
  if (shapes.length === 0) return;
  const known = new Map<string, { readonly at: number; times: number }>();
  const numbered: string[] = [];
  const sent = new WeakMap<FastifyRequest, Sent>();

  function seen(key: string) {
    const entry = known.get(key) ?? { at: Date.now(), times: 0 };
    entry.times += 1;
    known.set(key, entry);
    return { times: entry.times, forMs: Date.now() - entry.at };
  }

  function sentBy(request: FastifyRequest): Sent {
    const { method, url, headers } = request;
    const query = (request.query ?? {}) as Record<string, string>;
    const made: Sent = {
      ...{ method, url, headers, query, numbered, seen, asked: { ...query } },
      endpoint: callOf(request).endpoint as Sent['endpoint'],
      surface: surfaceOf(url)?.name ?? 'current',
      params: (request.params ?? {}) as Record<string, string>,
      body: (request.body ?? {}) as Json,
      nowMs: context.clock.now(),
    };
    const first = sent.get(request) ?? made;
    sent.set(request, first);
    return first;
  }

  server.addHook('preHandler', (request, _reply, done) => {
    if (surfaceOf(request.url)) {
      const call = sentBy(request);
      const before = JSON.stringify(call.body);
      for (const { request: change } of shapes) change?.(call);
      if (JSON.stringify(call.body) !== before) request.body = call.body;
    }
    done();
  });

  server.addHook('onSend', (request, reply, payload, done) => {
    const type = String(reply.getHeader('content-type'));
    if (!surfaceOf(request.url) || !type.startsWith('application/json')) return done();
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = String(value);
    const shown: Shown = { status: reply.statusCode, headers, body: JSON.parse(String(payload)) as Json };
    for (const { answer } of shapes) {
      if (typeof shown.body === 'string' || Buffer.isBuffer(shown.body)) break;
      answer?.(shown as Shown & { body: Json }, sentBy(request));
    }
    const { status, body } = shown;
    reply.code(status).headers(headers).removeHeader('content-length');
    done(null, typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}
