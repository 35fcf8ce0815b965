/** The variables and secret files that a machine gets from the environment of its sandbox. */

import { assume } from '../core/assume.js';
import type { Context, Core } from '../core/context.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { isOfUser } from './logins.js';
import { placeSecretFiles } from './secret-files.js';
import { variablesIn } from './variables.js';

/**
 * The variables of every process that is started in a sandbox: commands, the setup script, agents and SSH sessions.
 * They come from the version that the sandbox is pinned to. They are the lines of its `envContents` and, if the version
 * passes them, the owner's secrets, the login of the repository host and the sandbox's own credential. Assumption: a line of `envContents` wins over a
 * secret of the same name. Running processes keep the variables that they were started with. The values are secrets:
 * never log, show or keep them.
 */
export function machineEnvironment(
  { stores, sandboxCredentials, logins }: Pick<Core, 'stores' | 'sandboxCredentials' | 'logins'>,
  sandbox: SandboxRecord,
): Readonly<Record<string, string>> {
  const content = stores.environments.version(sandbox.environmentVersionId)?.content;
  if (!content) return {};
  if (content.passSecrets || content.envContents !== '') assume('A-machine-variables');
  const mayHold = mayHoldLogins({ stores }, sandbox);
  const secrets = content.passSecrets && mayHold ? stores.secrets.values(sandbox.ownerId) : [];
  const own = content.passSandboxCredentials && mayHold ? sandboxCredentials.variablesFor(sandbox) : {};
  const repoHost = content.passRepoHost && mayHold && isOfUser(sandbox) ? logins.repoHost : {};
  if (content.passRepoHost) assume('A-repo-host-login');
  return Object.fromEntries([
    ...Object.entries({ ...own, ...repoHost }),
    ...secrets,
    ...variablesIn(content.envContents),
  ]);
}

/**
 * The variables of an agent in a sandbox: those of every process and, if its environment passes them, those of the login
 * of its provider. A secret or a line of `envContents` of the same name wins. The values are secrets.
 */
export function agentEnvironment(
  core: Pick<Core, 'stores' | 'sandboxCredentials' | 'logins'>,
  sandbox: SandboxRecord,
  provider: string,
): Readonly<Record<string, string>> {
  const passes = core.stores.environments.version(sandbox.environmentVersionId)?.content.passAgentsCredentials;
  const mayHold = passes && mayHoldLogins(core, sandbox) && isOfUser(sandbox);
  if (passes) assume('A-agent-logins');
  return { ...(mayHold && core.logins.agents.get(provider)), ...machineEnvironment(core, sandbox) };
}

/** The secret files that belong on the disk of a sandbox now. */
export function secretFilesFor({ stores }: Pick<Core, 'stores'>, sandbox: SandboxRecord): readonly SecretFile[] {
  if (!mayHoldLogins({ stores }, sandbox)) return [];
  return stores.environments.version(sandbox.environmentVersionId)?.content.secretFiles ?? [];
}

/**
 * Writes the secret files to the disk of a sandbox that starts, and removes secret files that are no longer passed to
 * it. Assumption: if there is a folder of the user at the path of a secret file, the start continues without that file.
 * So the user can still reach the work in the sandbox. The caller holds the lock of the sandbox. Safe to repeat.
 */
export async function prepareDisk(context: Context, sandboxId: string): Promise<void> {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) return;
  const blocked = await placeSecretFiles(context, sandbox, secretFilesFor(context, sandbox));
  for (const path of blocked) context.log('a secret file could not be placed', { sandboxId, path });
}

/**
 * True if a sandbox may hold its owner's logins: its environment belongs to the owner, and the logins were not wiped.
 */
function mayHoldLogins({ stores }: Pick<Core, 'stores'>, sandbox: SandboxRecord): boolean {
  const { environmentId, loginsWiped, ownerId } = sandbox;
  return !loginsWiped && environmentId !== null && stores.environments.accountOf(environmentId) === ownerId;
}
