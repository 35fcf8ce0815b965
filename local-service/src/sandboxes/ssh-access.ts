/**
 * SSH access to a sandbox: which keys its server accepts, and when the server listens (specification, `sshEndpoint` and
 * POST /sandboxes/{sandboxId}/sshkey).
 */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { accessToken, goodToken, isTokenOf } from '../access/access-tokens.js';
import type { Caller } from '../access/key-scope.js';
import { requireUsable, sandboxFor } from '../access/sandbox-access.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { hasSshPort } from '../core/machine-states.js';
import { reasonOf } from '../log.js';
import { ServiceError } from '../service-error.js';
import { type PublicKey, parsePublicKey } from '../ssh/public-key.js';
import type { AcceptedKeys, SshAddress } from '../ssh/sandbox-listener.js';
import { SshError } from '../ssh/ssh-error.js';
import type { SandboxRecord, SandboxSshKey } from '../store/sandbox-record.js';

/** What a key must be allowed to do so that the SSH keys that it registered may log in. */
const action = 'ssh';

/**
 * Accepts an SSH key for a sandbox, for as long as the API key of the caller may do this. It replaces the one that the
 * same API key has registered before. Safe to repeat.
 * @returns the sandbox, whose SSH server listens
 * @throws ServiceError `machine_not_running`; `invalid_request` if the text is not a usable public key
 */
export async function configureSshKey(
  context: Context,
  sandboxId: string,
  options: { readonly caller: Caller; readonly publicKey: string },
): Promise<SandboxRecord> {
  const { accountId, credentialId } = options.caller;
  const find = () => {
    const found = sandboxFor(context, options.caller, sandboxId, 'use');
    requireUsable(found);
    return found;
  };
  const sandbox = find();
  const publicKey = readKey(options.publicKey).text;
  const token = accessToken(context, options.caller, { sandbox, action }) ?? '';
  const others = sandbox.sshKeys.filter((key) => isGood(context, sandbox, key) && !isTokenOf(key.token, credentialId));
  changeSandbox(context, sandbox, { sshKeys: [...others, { accountId, publicKey, token }] });
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

/** The keys that may log in now: of accounts that may use the sandbox, while the API key that registered them may. */
function keysOf(context: Context, sandboxId: string): AcceptedKeys {
  return () => {
    const sandbox = context.stores.sandboxes.get(sandboxId);
    if (!sandbox || !isUsable(sandbox.state)) return [];
    return sandbox.sshKeys
      .filter((key) => isGood(context, sandbox, key))
      .map(({ publicKey }) => parsePublicKey(publicKey));
  };
}

function isGood(context: Context, sandbox: SandboxRecord, { token }: SandboxSshKey): boolean {
  return goodToken(context, [token], { sandbox, action }) !== undefined;
}

/**
 * Opens the SSH port of a sandbox with the keys of its record, or closes it. This is the work `ssh`, which is due after
 * each change of the sandbox's state or keys. Without a key, nobody can log in. Safe to repeat.
 */
export function syncSsh(context: Context, sandboxId: string): Promise<void> {
  return context.sshLocks.run(sandboxId, async () => {
    const { stores, ssh } = context;
    const sandbox = stores.sandboxes.get(sandboxId);
    const opens = sandbox !== undefined && hasSshPort(sandbox) && !context.closing.aborted;
    if (!opens) await ssh.close(sandboxId);
    const address = opens ? await ssh.open(sandboxId, keysOf(context, sandboxId)) : undefined;
    const now = stores.sandboxes.get(sandboxId);
    if (!now || context.closing.aborted) return;
    const sshEndpoint = address && hasSshPort(now) ? endpointText(address) : null;
    if (now.sshEndpoint !== sshEndpoint) changeSandbox(context, now, { sshEndpoint });
  });
}

/**
 * Opens the SSH port of a machine that starts. The boot continues if no port can be opened; the work `ssh` then tries
 * again.
 * @returns the endpoint, for the change that gives the sandbox its machine
 */
export function openForBoot(context: Context, sandbox: SandboxRecord): Promise<string | null> {
  return context.sshLocks.run(sandbox.id, async () => {
    if (context.closing.aborted) return null;
    try {
      return endpointText(await context.ssh.open(sandbox.id, keysOf(context, sandbox.id)));
    } catch (cause) {
      logFailure(context, sandbox.id, cause);
      return null;
    }
  });
}

const endpointText = ({ host, port }: SshAddress): string => `${host}:${port}`;

function logFailure(context: Context, sandboxId: string, cause: unknown): void {
  context.log('the SSH server of a sandbox could not be opened', { sandboxId, reason: reasonOf(cause) });
}

/**
 * Opens again the SSH servers that an earlier service had open, on other ports. Called once, before the first request.
 */
export async function reopenSsh(context: Context): Promise<void> {
  for (const sandbox of [...context.stores.sandboxes.living()]) {
    if (!hasSshPort(sandbox)) continue;
    try {
      await syncSsh(context, sandbox.id);
    } catch (cause) {
      logFailure(context, sandbox.id, cause);
    }
  }
}
