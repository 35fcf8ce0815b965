/** Whether the agent of a provider has its login (specification, prompt endpoint: `provider_not_configured`). */
import type { Agent } from '../agent/index.js';
import type { Context, Core } from '../core/context.js';
import { defaultEnvironment } from '../environments/environments.js';
import { isOfUser } from '../environments/logins.js';
import { agentEnvironment, secretFilesFor } from '../environments/on-machine.js';
import { pathBelowHome } from '../environments/secret-files.js';
import { variablesIn } from '../environments/variables.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

type Known = Pick<Core, 'stores' | 'sandboxCredentials' | 'logins'>;

interface AgentOfProvider {
  readonly provider: string;
  readonly login: Agent['login'];
}

/** Undefined if the agent needs no login, or if the sandbox has it; otherwise what the sandbox would need one of. */
export function missingLogin(
  core: Known,
  sandbox: SandboxRecord,
  { provider, login }: AgentOfProvider,
): readonly string[] | undefined {
  if (login === undefined) return undefined;
  const held = { variables: agentEnvironment(core, sandbox, provider), files: secretFilesFor(core, sandbox) };
  return isHeld(login, held) ? undefined : login;
}

/** True if a new sandbox in the account's default environment would have the login. */
export function newSandboxesHoldLogin(
  context: Context,
  accountId: string,
  { provider, login }: AgentOfProvider,
): boolean {
  if (login === undefined) return true;
  const { stores, logins } = context;
  const content = stores.environments.latest(defaultEnvironment(context, accountId).id)?.content;
  if (!content) return false;
  const secrets = content.passSecrets ? stores.secrets.values(accountId) : [];
  const passed = content.passAgentsCredentials && isOfUser({ ownerId: accountId }) ? logins.agents.get(provider) : {};
  const variables = { ...passed, ...Object.fromEntries([...secrets, ...variablesIn(content.envContents)]) };
  return isHeld(login, { variables, files: content.secretFiles });
}

function isHeld(
  login: readonly string[],
  { variables, files }: { readonly variables: Readonly<Record<string, string>>; readonly files: readonly SecretFile[] },
): boolean {
  const paths = new Set(files.map(({ path }) => pathBelowHome(path)));
  return login.some((wanted) => (variables[wanted] ?? '') !== '' || paths.has(pathBelowHome(wanted)));
}
