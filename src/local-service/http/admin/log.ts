/** `/_local/log` and `/_local/assumptions`: the call book as a log, and what of the answers was assumed. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type AssumptionId, assumptions } from '../../../contract/assumptions.js';
import { ServiceError } from '../../service-error.js';
import type { CallLogEntry } from '../../store/call-log.js';
import type { CallStore } from '../../store/call-store.js';

const shownOfAKey = 8;
const defaultLines = 100;
const maxLines = 1_000;

const querySchema = z.object({
  after: z.coerce.number().int().nonnegative().optional(),
  limit: z.coerce.number().int().positive().max(maxLines).optional(),
  endpoint: z.string().optional(),
  /** A status, or the class of it: `404` or `4xx`. */
  status: z
    .string()
    .regex(/^[1-5](?:\d\d|xx)$/, 'must be a status like 404, or a class like 4xx')
    .transform((text) => Number(text.replace('xx', '')))
    .optional(),
});

/** One call, without what could be a secret: no body, no header, and no more of an idempotency key than tells it apart. */
function lineOf(entry: CallLogEntry): Readonly<Record<string, unknown>> {
  const { seq, at, method, path, status, outcome, code, durationMs, requestId, sandboxId, endpoint, assumptions } =
    entry;
  const { idempotencyKey: key } = entry;
  const short = key !== null && key.length > shownOfAKey ? `${key.slice(0, shownOfAKey)}…` : key;
  return {
    seq,
    at,
    method,
    path,
    endpoint,
    status,
    outcome,
    code: code ?? null,
    durationMs: Math.round((durationMs ?? 0) * 10) / 10,
    requestId,
    sandboxId,
    idempotencyKey: short,
    assumptions: assumptions ?? [],
  };
}

export function registerLogRoutes(server: FastifyInstance, { calls }: { readonly calls: CallStore }): void {
  server.get('/_local/log', (request) => {
    const parsed = querySchema.safeParse(request.query);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw new ServiceError(400, 'invalid_request', `${issue?.path.join('.')}: ${issue?.message}`);
    }
    const { after, limit = defaultLines, endpoint, status } = parsed.data;
    const lines = calls.log({ after, limit, endpoint, status });
    // With nothing left to read the next look begins at the end, also where a filter has let nothing through.
    const next = lines.length === limit ? (lines.at(-1)?.seq ?? 0) : Math.max(calls.last(), after ?? 0);
    return { ok: true, type: 'local.log', calls: lines.map(lineOf), next };
  });

  server.get('/_local/assumptions', () => ({
    ok: true,
    type: 'local.assumptions',
    assumptions: calls.assumptions().map(({ id, count, firstRequestId }) => ({
      id,
      // One that a later version no longer has keeps its count.
      says: Object.hasOwn(assumptions, id) ? assumptions[id as AssumptionId] : null,
      count,
      firstRequestId,
    })),
  }));
}
