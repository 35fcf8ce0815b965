/** Whether the agent of a provider has its login (specification, prompt endpoint: `provider_not_configured`). */
import type { Agent } from '../agent/index.js';
import type { Core } from '../core/context.js';
import { machineEnvironment, secretFilesFor } from '../environments/on-machine.js';
import { pathBelowHome } from '../environments/secret-files.js';
import { variablesIn } from '../environments/variables.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

type Known = Pick<Core, 'stores' | 'sandboxCredentials'>;

/** Undefined if the agent needs no login, or if the sandbox has it; otherwise what the sandbox would need one of. */
export function missingLogin(core: Known, sandbox: SandboxRecord, { login }: Agent): readonly string[] | undefined {
  if (login === undefined) return undefined;
  const held = { variables: machineEnvironment(core, sandbox), files: secretFilesFor(core, sandbox) };
  return isHeld(login, held) ? undefined : login;
}

/** True if a new sandbox in the account's default environment would have the login. */
export function newSandboxesHoldLogin({ stores }: Known, accountId: string, { login }: Agent): boolean {
  if (login === undefined) return true;
  const environment = stores.environments.defaultOf(accountId);
  const content = environment && stores.environments.latest(environment.id)?.content;
  if (!content) return false;
  const secrets = content.passSecrets ? stores.secrets.values(accountId) : [];
  const variables = Object.fromEntries([...secrets, ...variablesIn(content.envContents)]);
  return isHeld(login, { variables, files: content.secretFiles });
}

function isHeld(
  login: readonly string[],
  { variables, files }: { readonly variables: Readonly<Record<string, string>>; readonly files: readonly SecretFile[] },
): boolean {
  const paths = new Set(files.map(({ path }) => pathBelowHome(path)));
  return login.some((wanted) => (variables[wanted] ?? '') !== '' || paths.has(pathBelowHome(wanted)));
}
