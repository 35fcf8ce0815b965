/**
 * Makes a running machine degraded or broken, and repairs it (specification, "Sandbox", fields `health` and `error`).
 */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { ServiceError, sandboxNotFound } from '../service-error.js';
import { withoutPendingSnapshot } from '../snapshots/snapshots.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { makeUsable } from './boot.js';

/**
 * Makes a usable sandbox degraded for the given reason. Null ends this state, and so does a stop of the machine. The
 * sandbox keeps running.
 * @throws ServiceError `machine_not_running`
 */
export function setDegraded(context: Context, sandboxId: string, reason: string | null): SandboxRecord {
  const sandbox = requireUsable(context, sandboxId);
  const since = sandbox.degraded?.since ?? context.clock.iso();
  return changeSandbox(context, sandbox, { degraded: reason === null ? null : { reason, since } });
}

/**
 * Puts a usable sandbox into `error`, and interrupts its prompts.
 * @param options.recoverMs time after which it recovers by itself, in ms; null if it does not
 * @throws ServiceError `machine_not_running`
 */
export function breakSandbox(
  context: Context,
  sandboxId: string,
  options: { readonly reason: string; readonly recoverMs: number | null },
): SandboxRecord {
  requireUsable(context, sandboxId);
  return context.database.transaction(() => {
    const sandbox = requireUsable(context, sandboxId);
    const broken = changeSandbox(context, sandbox, {
      ...withoutPendingSnapshot(sandbox),
      ...{ state: 'error', error: options.reason, epoch: sandbox.epoch + 1 },
    });
    // This comes after the change of state. Otherwise the end of the last prompt would first make the sandbox idle.
    context.prompts.interrupt(sandboxId);
    for (const kind of ['auto_stop', 'hydrate', 'snapshot'] as const) context.stores.work.cancel(kind, sandboxId);
    if (options.recoverMs !== null) {
      context.schedule('recover', sandboxId, String(broken.epoch), context.clock.now() + options.recoverMs);
    }
    return broken;
  });
}

/**
 * Makes a sandbox in `error` usable. Does nothing in any other state.
 * @throws ServiceError `machine_not_running` if its disk could not be made: a resume tries again
 */
export function recoverNow(context: Context, sandboxId: string): void {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) throw sandboxNotFound(sandboxId);
  if (sandbox.state !== 'error') return;
  if (sandbox.restoreFrom !== null) {
    throw new ServiceError(
      400,
      'machine_not_running',
      'The disk of the sandbox could not be created. Resume the sandbox.',
    );
  }
  context.stores.work.cancel('recover', sandboxId);
  makeUsable(context, sandbox);
}

function requireUsable({ stores }: Context, sandboxId: string): SandboxRecord {
  const sandbox = stores.sandboxes.get(sandboxId);
  if (!sandbox) throw sandboxNotFound(sandboxId);
  if (isUsable(sandbox.state)) return sandbox;
  throw new ServiceError(400, 'machine_not_running', `The sandbox is ${sandbox.state}, so it has no running machine.`);
}
