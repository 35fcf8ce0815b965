/**
 * SSH access to a sandbox: which keys its server accepts, and when the server listens (specification, `sshEndpoint` and
 * POST /sandboxes/{sandboxId}/sshkey).
 */
import { isUsable } from '../../contract/workflow-safe/states.js';
import type { Caller } from '../access/key-scope.js';
import { accessOf, requireMachine, sandboxFor } from '../access/sandbox-access.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { reasonOf } from '../log.js';
import { ServiceError } from '../service-error.js';
import { type PublicKey, parsePublicKey } from '../ssh/public-key.js';
import { SshError } from '../ssh/ssh-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/**
 * Accepts a key for a sandbox. It replaces the previous key of the same account. Safe to repeat.
 * @returns the sandbox, whose SSH server listens
 * @throws ServiceError `machine_not_running`; `invalid_request` if the text is not a usable public key
 */
export async function configureSshKey(
  context: Context,
  sandboxId: string,
  options: { readonly caller: Caller; readonly publicKey: string },
): Promise<SandboxRecord> {
  const { accountId } = options.caller;
  const find = () => {
    const found = sandboxFor(context, options.caller, sandboxId, 'use');
    requireMachine(found);
    return found;
  };
  const sandbox = find();
  const publicKey = readKey(options.publicKey).text;
  const others = sandbox.sshKeys.filter((key) => key.accountId !== accountId);
  changeSandbox(context, sandbox, { sshKeys: [...others, { accountId, publicKey }] });
  await syncSsh(context, sandboxId);
  return find();
}

function readKey(text: string): PublicKey {
  try {
    return parsePublicKey(text);
  } catch (cause) {
    if (!(cause instanceof SshError)) throw cause;
    throw new ServiceError(400, 'invalid_request', `publicKey: ${cause.message}`, { details: { reason: cause.code } });
  }
}

/** The keys of accounts that may use the sandbox now; none if it is not usable. */
function keysOf(context: Context, sandbox: SandboxRecord | undefined): PublicKey[] {
  if (!sandbox || !isUsable(sandbox.state)) return [];
  return sandbox.sshKeys
    .filter(({ accountId }) => ['use', 'owner'].includes(accessOf(context, accountId, sandbox) ?? ''))
    .map(({ publicKey }) => parsePublicKey(publicKey));
}

/**
 * Opens the SSH server of a sandbox with the keys of its record, or closes it. This is the work `ssh`, which is due
 * after each change of the sandbox's state or keys. Safe to repeat.
 */
export function syncSsh(context: Context, sandboxId: string): Promise<void> {
  return context.sshLocks.run(sandboxId, async () => {
    const { stores, ssh } = context;
    const keys = keysOf(context, stores.sandboxes.get(sandboxId));
    if (keys.length === 0 || context.closing.aborted) await ssh.close(sandboxId);
    const address = keys.length === 0 || context.closing.aborted ? undefined : await ssh.open(sandboxId, keys);
    const now = stores.sandboxes.get(sandboxId);
    if (!now || context.closing.aborted) return;
    const sshEndpoint = address && isUsable(now.state) ? `${address.host}:${address.port}` : null;
    if (now.sshEndpoint !== sshEndpoint) changeSandbox(context, now, { sshEndpoint });
  });
}

/**
 * Opens again the SSH servers that an earlier service had open, on other ports. Called once, before the first request.
 */
export async function reopenSsh(context: Context): Promise<void> {
  for (const { id, sshKeys } of [...context.stores.sandboxes.living()]) {
    if (sshKeys.length === 0) continue;
    try {
      await syncSsh(context, id);
    } catch (cause) {
      context.log('the SSH server of a sandbox could not be opened', { sandboxId: id, reason: reasonOf(cause) });
    }
  }
}
