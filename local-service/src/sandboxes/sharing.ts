/** Share and unshare of organization sandboxes (specification, "Access rules" and POST …/unshare). */

import { holdsLogins, visibilityOf } from '../access/sandbox-access.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { invalidRequest } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

export interface Sharing {
  readonly sandbox: SandboxRecord;
  readonly message: string;
}

function requireOrganization(sandbox: SandboxRecord): void {
  if (sandbox.teamId !== null) return;
  const message = 'This sandbox does not belong to an organization, so it cannot be shared.';
  throw invalidRequest(message);
}

/**
 * Makes an organization sandbox shared: at once if it holds none of its creator's logins, or else at its next start,
 * which wipes them. Only its creator may do this. Safe to repeat.
 * @throws ServiceError 400 for a personal sandbox
 */
export function shareSandbox(context: Context, sandbox: SandboxRecord): Sharing {
  requireOrganization(sandbox);
  if (visibilityOf(context, sandbox) === 'shared') {
    return { sandbox, message: 'This sandbox is already shared. Every member of the organization can use it.' };
  }
  const wipePendingUntilRestart = holdsLogins(context, sandbox);
  const changed = changeSandbox(context, sandbox, { madePrivate: false, wipePendingUntilRestart });
  const message = wipePendingUntilRestart
    ? 'Your logins will be wiped from this sandbox at its next start. After that, every member of the organization can use it.'
    : 'This sandbox is now shared. Every member of the organization can use it.';
  return { sandbox: changed, message };
}

/**
 * Makes an organization sandbox private, at once. Files, installs and environment stay as they are. Only its creator
 * may do this. Safe to repeat.
 * @throws ServiceError 400 for a personal sandbox
 */
export function unshareSandbox(context: Context, sandbox: SandboxRecord): Sharing {
  requireOrganization(sandbox);
  const isPrivate = visibilityOf(context, sandbox) === 'private';
  if (isPrivate && !sandbox.wipePendingUntilRestart) {
    return { sandbox, message: 'This sandbox is already private.' };
  }
  const changed = changeSandbox(context, sandbox, { madePrivate: true, wipePendingUntilRestart: false });
  return {
    sandbox: changed,
    message: 'This sandbox is now private. Only you can use it. Members of the organization can view and stop it.',
  };
}

/**
 * If a share waits for the next start, returns the change that this start makes: the creator's logins are wiped. Part
 * of the transaction that begins the start. The disk is cleaned before anybody can use the sandbox.
 */
export function wipeAtStart(context: Context, sandbox: SandboxRecord): Partial<SandboxRecord> {
  if (!sandbox.wipePendingUntilRestart) return {};
  context.sandboxCredentials.revoke(sandbox.id);
  return { loginsWiped: true, wipePendingUntilRestart: false };
}
