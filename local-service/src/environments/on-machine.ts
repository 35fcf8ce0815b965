/** The variables and secret files that a machine gets from the environment of its sandbox. */

import { assume } from '../core/assume.js';
import type { Context, Core } from '../core/context.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { isOfUser } from './logins.js';
import { placeSecretFiles } from './secret-files.js';
import { variablesIn } from './variables.js';

type Passed = Pick<Core, 'stores' | 'logins' | 'deviations'>;
type Known = Passed & Pick<Core, 'sandboxCredentials'>;
/** A sandbox, or one that could be created. */
type Holder = Pick<SandboxRecord, 'ownerId' | 'environmentId' | 'environmentVersionId' | 'loginsWiped'>;

/**
 * The variables of every process that is started in a sandbox: commands, the setup script, agents and SSH sessions.
 * They come from the version that the sandbox is pinned to. They are the lines of its `envContents` and, if the version
 * passes them, the owner's secrets, the login of the repository host and the sandbox's own credential. Assumption: a line of `envContents` wins over a
 * secret of the same name. Running processes keep the variables that they were started with. The values are secrets:
 * never log, show or keep them.
 */
export function machineEnvironment(core: Known, sandbox: SandboxRecord): Readonly<Record<string, string>> {
  const content = contentOf(core, sandbox);
  if (!content) return {};
  if (content.passSecrets || content.envContents !== '') assume('A-machine-variables');
  if (content.passRepoHost) assume('A-repo-host-login');
  const isGiven = !core.deviations.has('A-sandbox-variables');
  const passesOwn = isGiven && content.passSandboxCredentials && mayHoldLogins(core, sandbox);
  return { ...(passesOwn && core.sandboxCredentials.variablesFor(sandbox)), ...passedVariables(core, sandbox) };
}

/**
 * The variables of an agent in a sandbox: those of every process and, if its environment passes them, those of the login
 * of its provider. A secret or a line of `envContents` of the same name wins. The values are secrets.
 */
export function agentEnvironment(
  core: Known,
  sandbox: SandboxRecord,
  provider: string,
): Readonly<Record<string, string>> {
  if (contentOf(core, sandbox)?.passAgentsCredentials) assume('A-agent-logins');
  return { ...agentLogin(core, sandbox, provider), ...machineEnvironment(core, sandbox) };
}

/** The variables of every process, without the sandbox's own credential. */
export function passedVariables(core: Passed, holder: Holder): Readonly<Record<string, string>> {
  const content = contentOf(core, holder);
  if (!content || core.deviations.has('A-machine-variables')) return {};
  const mayHold = mayHoldLogins(core, holder);
  const secrets = content.passSecrets && mayHold ? core.stores.secrets.values(holder.ownerId) : [];
  const isGiven = content.passRepoHost && !core.deviations.has('A-repo-host-login');
  const repoHost = isGiven && mayHold && isOfUser(holder) ? core.logins.repoHost : {};
  return Object.fromEntries([...Object.entries(repoHost), ...secrets, ...variablesIn(content.envContents)]);
}

/** The variables that only prompts of the provider get. */
export function agentLogin(core: Passed, holder: Holder, provider: string): Readonly<Record<string, string>> {
  if (core.deviations.has('A-agent-logins')) return {};
  const mayHold = contentOf(core, holder)?.passAgentsCredentials && mayHoldLogins(core, holder) && isOfUser(holder);
  return (mayHold && core.logins.agents.get(provider)) || {};
}

/** The secret files that belong on the disk of a sandbox now. */
export function secretFilesFor(core: Pick<Core, 'stores'>, holder: Holder): readonly SecretFile[] {
  return mayHoldLogins(core, holder) ? (contentOf(core, holder)?.secretFiles ?? []) : [];
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
function mayHoldLogins({ stores }: Pick<Core, 'stores'>, holder: Holder): boolean {
  const { environmentId, loginsWiped, ownerId } = holder;
  return !loginsWiped && environmentId !== null && stores.environments.accountOf(environmentId) === ownerId;
}

function contentOf({ stores }: Pick<Core, 'stores'>, { environmentVersionId }: Holder) {
  return stores.environments.version(environmentVersionId)?.content;
}
