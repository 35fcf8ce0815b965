/** Whether the agent of a provider has its login (specification, prompt endpoint: `provider_not_configured`). */
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import type { Agent } from '../agent/index.js';
import type { Context, Core } from '../core/context.js';
import { defaultEnvironment } from '../environments/environments.js';
import { agentEnvironment, agentLogin, passedVariables, secretFilesFor } from '../environments/on-machine.js';
import { pathBelowHome } from '../environments/secret-files.js';
import { sandboxHome } from '../machine/index.js';
import type { SecretFile } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

type Known = Pick<Core, 'stores' | 'sandboxCredentials' | 'logins' | 'deviations'>;

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
  const { id: environmentId } = defaultEnvironment(context, accountId);
  const environmentVersionId = context.stores.environments.latest(environmentId)?.id ?? null;
  const sandbox = { ownerId: accountId, environmentId, environmentVersionId, loginsWiped: false };
  const variables = { ...agentLogin(context, sandbox, provider), ...passedVariables(context, sandbox) };
  return isHeld(login, { variables, files: secretFilesFor(context, sandbox) });
}

/**
 * Checks that a sandbox can have what a setting names. The error does not quote it: it may be a key by mistake.
 * @throws SandflowError `bad_configuration`
 */
export function requireGoodLogin(setting: string, login: Agent['login']): void {
  for (const [index, wanted] of (login ?? []).entries()) {
    if (variableName.test(wanted) || (!/[$=]/.test(wanted) && pathBelowHome(wanted) !== undefined)) continue;
    const variable = 'the name of a variable, such as OPENAI_API_KEY';
    const file = `the path of a secret file in the home of the sandbox, such as ~/.codex/auth.json or ${sandboxHome}/key`;
    throw new SandflowError('bad_configuration', `${setting}.${index}: must be ${variable}, or ${file}.`);
  }
}

function isHeld(
  login: readonly string[],
  { variables, files }: { readonly variables: Readonly<Record<string, string>>; readonly files: readonly SecretFile[] },
): boolean {
  const paths = new Set(files.map(({ path }) => pathBelowHome(path)));
  return login.some((wanted) => (variables[wanted] ?? '') !== '' || paths.has(pathBelowHome(wanted)));
}
