/**
 * `/_local/books`, `/_local/log`, `/_local/assumptions` and `/_local/facts`: what the service did, and how it runs.
 * The last one has the clock, too: one call tells a command all that it warns of.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type AssumptionId, assumptions } from '../../../../src/contract/assumptions.js';
import type { ControlledClock } from '../../clock.js';
import type { Inspection } from '../../inspection.js';
import type { IsolationReport } from '../../isolation-report.js';
import type { LocalServiceOptions } from '../../options.js';
import type { CallLogEntry, CallStore } from '../../store/call-store.js';
import { read } from '../parse-input.js';
import { clockView } from './clock.js';

const shownOfAKey = 8;
const defaultLines = 100;
const maxLines = 1_000;

const filterSchema = z.object({ sandboxId: z.string().optional(), name: z.string().optional() });
const logSchema = z.object({
  after: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().positive().max(maxLines).optional(),
  endpoint: z.string().optional(),
  /** A status, or its class: `404` or `4xx`. */
  status: z
    .string()
    .regex(/^[1-5](?:\d\d|xx)$/, 'must be a status such as 404, or a class such as 4xx')
    .transform((text) => Number(text.replace('xx', '')))
    .optional(),
});

/** Shows a call without secrets: no body, no header, and only the start of an idempotency key. */
function lineOf(entry: CallLogEntry): Readonly<Record<string, unknown>> {
  const { seq, at, method, path, endpoint, status, outcome, code, durationMs, requestId, sandboxId } = entry;
  const { idempotencyKey: key, assumptions } = entry;
  return {
    ...{ seq, at, method, path, endpoint, status, outcome, requestId, sandboxId },
    idempotencyKey: key !== null && key.length > shownOfAKey ? `${key.slice(0, shownOfAKey)}…` : key,
    code,
    durationMs: Math.round(durationMs * 10) / 10,
    assumptions,
  };
}

interface BookRoutesOptions extends Pick<LocalServiceOptions, 'changedSettings'> {
  readonly books: Inspection;
  readonly calls: CallStore;
  readonly isolation: IsolationReport;
  readonly clock: ControlledClock;
}

export function registerBookRoutes(server: FastifyInstance, options: BookRoutesOptions): void {
  const { books, calls, isolation, clock, changedSettings } = options;
  server.get('/_local/facts', async () => {
    const changed = (await changedSettings?.()) ?? null;
    return { ok: true, type: 'local.facts', isolation, clock: clockView(clock), changedSettings: changed };
  });
  server.get('/_local/books', (request) => {
    const filter = read(filterSchema, request.query, { message: 'Specify sandboxId and name at most once each.' });
    return {
      ok: true,
      type: 'local.books',
      calls: books.calls(filter),
      sandboxes: books.sandboxes(filter),
      prompts: books.prompts(filter),
      stops: books.stops(filter),
      deliveries: books.deliveries(filter),
    };
  });
  server.get('/_local/books/summary', () => ({ ok: true, type: 'local.books.summary', summary: books.summary() }));
  server.get('/_local/log', (request) => {
    const { after, limit = defaultLines, endpoint, status } = read(logSchema, request.query);
    const lines = calls.log({ after, limit, endpoint, status });
    // If no further call matches, the next read starts at the end of the log, even if no call has matched at all.
    const next = lines.length === limit ? (lines.at(-1)?.seq ?? 0) : Math.max(calls.last(), after ?? 0);
    return { ok: true, type: 'local.log', calls: lines.map(lineOf), next };
  });

  server.get('/_local/assumptions', () => ({
    ok: true,
    type: 'local.assumptions',
    assumptions: calls.assumptions().map(({ id, count, firstRequestId }) => ({
      id,
      // An assumption that this version no longer makes keeps its count.
      says: Object.hasOwn(assumptions, id) ? assumptions[id as AssumptionId] : null,
      count,
      firstRequestId,
    })),
  }));
}
