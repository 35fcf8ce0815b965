/** What the environment of a sandbox means on its machine: variables, and secret files. */

import { assume } from '../core/assume.js';
import type { Context, Core } from '../core/context.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { versionOf } from './environments.js';
import { placeSecretFiles } from './secret-files.js';
import { variablesIn } from './variables.js';

/**
 * The variables that everything which is started in a sandbox gets: commands, the setup script, agents and SSH sessions. Made of
 * the version that the sandbox is pinned to: the lines of its `envContents`, its owner's secrets if it passes them,
 * and the sandbox's own credential if it passes that.
 * Assumption: a line of the environment comes before a secret of the same name. What runs already keeps what it was started
 * with. The values are secrets: never log, show or keep them.
 */
export function machineEnvironment(
  { stores, sandboxCredentials }: Pick<Core, 'stores' | 'sandboxCredentials'>,
  sandbox: SandboxRecord,
): Readonly<Record<string, string>> {
  const content = versionOf({ stores }, sandbox)?.content;
  if (!content) return {};
  if (content.passSecrets || content.envContents !== '') assume('A-machine-variables');
  const secrets =
    content.passSecrets && mayHoldLogins({ stores }, sandbox) ? stores.secrets.values(sandbox.ownerId) : [];
  const own =
    content.passSandboxCredentials && mayHoldLogins({ stores }, sandbox)
      ? sandboxCredentials.variablesFor(sandbox)
      : {};
  return Object.fromEntries([...Object.entries(own), ...secrets, ...variablesIn(content.envContents)]);
}

/** The secret files that belong on the disk of a sandbox now. */
export function secretFilesFor({ stores }: Pick<Core, 'stores'>, sandbox: SandboxRecord): readonly SecretFile[] {
  if (!mayHoldLogins({ stores }, sandbox)) return [];
  return versionOf({ stores }, sandbox)?.content.secretFiles ?? [];
}

/**
 * Puts the secret files onto the disk of a sandbox that starts, and removes those that are no longer passed to it. Assumption: a
 * start that finds a folder of the user at the path of a file continues without that file, so that no work is locked away.
 * The caller holds the lock of the sandbox. Safe to repeat.
 */
export async function prepareDisk(context: Context, sandboxId: string): Promise<void> {
  const sandbox = context.stores.sandboxes.get(sandboxId);
  if (!sandbox) return;
  const blocked = await placeSecretFiles(context, sandbox, secretFilesFor(context, sandbox));
  for (const path of blocked) context.log('a secret file could not be placed', { sandboxId, path });
}

/** Logins of one account are never given to a sandbox of another, nor to one that they were wiped from. */
function mayHoldLogins({ stores }: Pick<Core, 'stores'>, sandbox: SandboxRecord): boolean {
  const { environmentId, loginsWiped, ownerId } = sandbox;
  return !loginsWiped && environmentId !== null && stores.environments.accountOf(environmentId) === ownerId;
}
