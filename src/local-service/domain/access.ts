/** Which sandboxes a caller may see and use (specification, "Access rules"). */
import { sandboxNotFound } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Caller } from './caller.js';
import type { Context } from './context.js';

/**
 * `view`: see it and stop it. `use`: also open, run commands in, prompt and resume it. `owner`: everything.
 * Each includes those before it.
 */
export type Need = 'view' | 'use' | 'owner';

/**
 * The sandbox for a caller who needs this much of it.
 * @throws ServiceError 404 for a sandbox that is gone, unknown or not for the caller to see
 */
export function sandboxFor(context: Context, caller: Caller, sandboxId: string, _need: Need): SandboxRecord {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (sandbox?.ownerId !== caller.accountId) throw sandboxNotFound(sandboxId);
  return sandbox;
}
