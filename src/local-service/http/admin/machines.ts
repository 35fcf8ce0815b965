/** `/_local/sandboxes/{sandboxId}`: what can go wrong with one machine, on demand. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Context } from '../../core/context.js';
import { breakSandbox, recoverNow, setDegraded } from '../../sandboxes/health.js';
import { ServiceError } from '../../service-error.js';

const changeSchema = z.union([
  /** Alive but not fully reachable; it keeps running. */
  z.strictObject({ health: z.literal('degraded'), reason: z.string().min(1).max(1_000) }),
  z.strictObject({ health: z.literal('ok') }),
  /** Enters `error`, and recovers by itself after `recoverMs` where given. */
  z.strictObject({
    state: z.literal('error'),
    reason: z.string().min(1).max(1_000).default('The machine does not answer.'),
    recoverMs: z.number().int().min(0).max(3_600_000).optional(),
  }),
  /** Recovers from `error` now. */
  z.strictObject({ state: z.literal('ready') }),
]);

/** @param options.faultsEnabled false refuses every call */
export function registerMachineRoutes(
  server: FastifyInstance,
  options: { readonly context: Context; readonly faultsEnabled: boolean },
): void {
  const { context, faultsEnabled } = options;
  server.patch('/_local/sandboxes/:sandboxId', (request: FastifyRequest<{ Params: { sandboxId: string } }>) => {
    if (!faultsEnabled) throw new ServiceError(403, 'forbidden', 'Faults are off. Start the service with faults on.');
    const parsed = changeSchema.safeParse(request.body);
    if (!parsed.success) {
      const message =
        'Give health (degraded with a reason, or ok), or state (error with a reason and recoverMs, or ready).';
      throw new ServiceError(400, 'invalid_request', message);
    }
    const { sandboxId } = request.params;
    const change = parsed.data;
    if ('health' in change) setDegraded(context, sandboxId, change.health === 'ok' ? null : change.reason);
    else if (change.state === 'ready') recoverNow(context, sandboxId);
    else breakSandbox(context, sandboxId, { reason: change.reason, recoverMs: change.recoverMs ?? null });
    return { ok: true, type: 'local.sandbox', sandboxId };
  });
}
