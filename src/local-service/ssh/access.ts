/**
 * SSH into a sandbox: whose keys its server lets in, and while when it listens (specification, `sshEndpoint` and
 * POST /sandboxes/{sandboxId}/sshkey).
 */
import { isUsable } from '../../contract/states.js';
import type { Caller } from '../accounts/key-scope.js';
import type { Context } from '../core/context.js';
import { reasonOf } from '../log.js';
import { accessOf, requireMachine, sandboxFor } from '../sandboxes/access.js';
import { changeSandbox } from '../sandboxes/change.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { type PublicKey, parsePublicKey } from './public-key.js';
import { SshError } from './ssh-error.js';

/**
 * Lets the holder of a key in, in place of the key that the same account had there before. Safe to repeat.
 * @returns the sandbox, whose SSH server listens
 * @throws ServiceError `machine_not_running`; `invalid_request` for what is no public key that can be used
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
 * Brings the SSH server of a sandbox to what its record says: open with these keys, or closed. The work `ssh`, due after
 * each change of the one or the other. Safe to repeat.
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

/** Opens anew what an earlier service had open, at another port. Called once, before requests come. */
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
