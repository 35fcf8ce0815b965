/** Which sandboxes a caller may see and use (specification, "Access rules"). */

import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { assume } from '../core/assume.js';
import type { Core } from '../core/context.js';
import { acceptsWork } from '../core/machine-states.js';
import { ServiceError, sandboxNotFound } from '../service-error.js';
import type { EnvironmentContent, EnvironmentStore } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { type Caller, reachesSandbox, requireSandboxOnKey } from './key-scope.js';

/**
 * `view`: see and stop the sandbox. `use`: also open it, run commands in it, prompt it and resume it. `owner`:
 * everything. Each level includes the levels before it.
 */
export type Access = 'view' | 'use' | 'owner';

const order: readonly Access[] = ['view', 'use', 'owner'];

/** By store and by id of a version. A version is never changed, and no other gets its id, so a result stays right. */
const loginsPassed = new WeakMap<EnvironmentStore, Map<string, boolean>>();

/**
 * True if sandboxes with this content hold personal logins of their creator (specification, "Access rules": "an
 * environment that passes nothing" holds none). Assumption: secret files count as logins, plain variables do not.
 */
function passesCreatorLogins(content: EnvironmentContent): boolean {
  const { passRepoHost, passSecrets, passSandboxCredentials, passAgentsCredentials, secretFiles } = content;
  return passRepoHost || passSecrets || passSandboxCredentials || passAgentsCredentials || secretFiles.length > 0;
}

/** True while the sandbox holds personal logins of its creator (specification, field `holdsCreatorLogins`). */
export function holdsLogins({ stores }: Pick<Core, 'stores'>, sandbox: SandboxRecord): boolean {
  const { loginsWiped, environmentVersionId: versionId } = sandbox;
  if (loginsWiped || versionId === null) return false;
  const known = loginsPassed.get(stores.environments) ?? new Map<string, boolean>();
  loginsPassed.set(stores.environments, known);
  let passed = known.get(versionId);
  if (passed === undefined) {
    const version = stores.environments.version(versionId);
    if (version === undefined) return false;
    passed = passesCreatorLogins(version.content);
    known.set(versionId, passed);
  }
  return passed;
}

/** Null for a personal sandbox (specification, "Access rules"). */
export function visibilityOf(context: Pick<Core, 'stores'>, sandbox: SandboxRecord): 'shared' | 'private' | null {
  if (sandbox.teamId === null) return null;
  return sandbox.madePrivate || holdsLogins(context, sandbox) ? 'private' : 'shared';
}

/** What an account may do with a sandbox; undefined if it may not even see it. */
export function accessOf(context: Pick<Core, 'stores'>, accountId: string, sandbox: SandboxRecord): Access | undefined {
  if (sandbox.ownerId === accountId) return 'owner';
  if (sandbox.teamId === null) return undefined;
  if (context.stores.accounts.accounts.get(accountId)?.teamId !== sandbox.teamId) return undefined;
  return visibilityOf(context, sandbox) === 'shared' ? 'use' : 'view';
}

/**
 * Finds a sandbox for a caller that needs this access to it.
 * @throws ServiceError 404 if the sandbox does not exist any more, is unknown or is not visible to the caller; 403
 * `api_key_sandbox_forbidden` if the key does not reach it; 403 `forbidden` if the caller sees it but lacks the access
 */
export function sandboxFor(
  context: Pick<Core, 'stores'>,
  caller: Caller,
  sandboxId: string,
  need: Access,
): SandboxRecord {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) throw sandboxNotFound(sandboxId);
  requireAccess(context, caller, sandbox, need);
  return sandbox;
}

/** Checks access as `sandboxFor` does, for a given record, even if the sandbox no longer exists. */
export function requireAccess(
  context: Pick<Core, 'stores'>,
  caller: Caller,
  sandbox: SandboxRecord,
  need: Access,
): void {
  const access = accessOf(context, caller.accountId, sandbox);
  if (access === undefined) throw sandboxNotFound(sandbox.id);
  requireSandboxOnKey(caller, sandbox);
  if (order.indexOf(access) >= order.indexOf(need)) return;
  if (!assume('A-access-refusals') && need === 'use') return;
  const message =
    need === 'owner'
      ? 'Only the account that created this sandbox may do this.'
      : 'This sandbox is private. You can only view it and stop it. Ask its creator to share it.';
  throw new ServiceError(403, 'forbidden', message);
}

/**
 * The sandboxes that a caller sees, oldest first: its own and those of its organization, limited by the scope of its
 * key.
 */
export function sandboxesFor(context: Pick<Core, 'stores'>, caller: Caller): SandboxRecord[] {
  const { accountId, scope } = caller;
  const teamId = context.stores.accounts.accounts.get(accountId)?.teamId ?? null;
  return [...context.stores.sandboxes.living()].filter(
    (sandbox) =>
      (sandbox.ownerId === accountId || (teamId !== null && sandbox.teamId === teamId)) &&
      reachesSandbox(scope, sandbox),
  );
}

/**
 * For files and commands, which a failing stop does not prevent.
 * @throws ServiceError `machine_not_running` (specification, "Errors": wait for the machine to start)
 */
export function requireMachine(sandbox: SandboxRecord): void {
  if (!acceptsWork(sandbox)) throw notRunning(sandbox);
  if (!isUsable(sandbox.state)) assume('A-failing-stop');
}

/** For SSH. @throws ServiceError as `requireMachine` */
export function requireUsable(sandbox: SandboxRecord): void {
  if (!isUsable(sandbox.state)) throw notRunning(sandbox);
}

function notRunning({ state }: SandboxRecord): ServiceError {
  const message = `The sandbox is ${state}. Files, commands and SSH require a sandbox that is ready, idle or running.`;
  return new ServiceError(400, 'machine_not_running', message);
}
