/** `/_local/faults` and `/_local/sandboxes/{sandboxId}`: cause faults on request. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Context } from '../../core/context.js';
import { faultSpecificationSchema } from '../../faults/fault-specification.js';
import { breakSandbox, recoverNow, setDegraded } from '../../sandboxes/health.js';
import { ServiceError } from '../../service-error.js';
import { read } from '../parse-input.js';

const changeSchema = z.union([
  /** The sandbox is alive but not fully reachable, and keeps running. */
  z.strictObject({ health: z.literal('degraded'), reason: z.string().min(1).max(1_000) }),
  z.strictObject({ health: z.literal('ok') }),
  /** The sandbox enters `error`. If `recoverMs` is given, it recovers by itself after that time. */
  z.strictObject({
    state: z.literal('error'),
    reason: z.string().min(1).max(1_000).default('The machine does not answer.'),
    recoverMs: z.number().int().min(0).max(3_600_000).optional(),
  }),
  /** The sandbox recovers from `error` now. */
  z.strictObject({ state: z.literal('ready') }),
]);
const changeProblem =
  'Specify health (degraded with a reason, or ok), or state (error with a reason and recoverMs, or ready).';

/** @param options.faultsEnabled if false, every call is refused */
export function registerFaultRoutes(
  server: FastifyInstance,
  { context, faultsEnabled }: { readonly context: Context; readonly faultsEnabled: boolean },
): void {
  const { faults } = context;
  const requireFaults = (): void => {
    if (!faultsEnabled)
      throw new ServiceError(403, 'forbidden', 'Faults are disabled. Start the service with faults enabled.');
  };

  server.get('/_local/faults', () => {
    requireFaults();
    return { ok: true, type: 'local.faults', faults: faults.list() };
  });
  server.post('/_local/faults', (request, reply) => {
    requireFaults();
    const fault = faults.add(read(faultSpecificationSchema, request.body, { root: 'kind' }));
    reply.code(201).send({ ok: true, type: 'local.fault', fault });
  });
  server.delete('/_local/faults', () => {
    requireFaults();
    faults.clear();
    return { ok: true, type: 'local.faults', faults: [] };
  });
  server.patch<{ Params: { sandboxId: string } }>('/_local/sandboxes/:sandboxId', (request) => {
    requireFaults();
    const change = read(changeSchema, request.body, { message: changeProblem });
    const { sandboxId } = request.params;
    if ('health' in change) setDegraded(context, sandboxId, change.health === 'ok' ? null : change.reason);
    else if (change.state === 'ready') recoverNow(context, sandboxId);
    else breakSandbox(context, sandboxId, { reason: change.reason, recoverMs: change.recoverMs ?? null });
    return { ok: true, type: 'local.sandbox', sandboxId };
  });
}
