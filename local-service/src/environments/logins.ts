/**
 * The logins of the user who runs the service: one for a host of repositories, and those of agents. The settings name
 * files, and the values are kept in memory only. They belong to the first account: no sandbox of another one gets them.
 */
import { z } from 'zod';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { requireSecretFile } from '../../../src/os/secret-file.js';
import { headerSecret } from '../../../src/secrecy/known-secrets.js';
import { checkInput, problemLine } from '../../../src/settings/input-problems.js';
import type { Logins } from '../core/context.js';
import { firstAccountId } from '../core/ids.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

type Variables = Readonly<Record<string, string>>;

const secretPath = z.string().regex(/^\/[^\0]+$/, 'must be the absolute path of a file');

export const repoHostSchema = z.strictObject({
  url: z
    .string()
    // Exactly one host: git would take `*` for any name, and ignore the login for an address that it cannot read.
    .regex(
      /^https?:\/\/(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d+)?$/i,
      'must be an address without a path, such as https://git.example.com',
    ),
  login: z.string().regex(/^[\x21-\x7e]+$/, 'must be a name without spaces'),
  tokenFile: secretPath,
});

export const agentCredentialsSchema = z.record(
  z.string(),
  z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'), secretPath),
);

/** The login of a host of repositories, as the options take it. */
export type RepoHost = Readonly<z.infer<typeof repoHostSchema>>;
/** Provider → variable → the file that holds its value. */
export type AgentCredentials = Readonly<Record<string, Variables>>;

/** Reads the files. @throws SandflowError `bad_configuration`, `file_not_trusted`, `bad_api_key`; none quotes a value */
export async function readLogins(
  options: { readonly repoHost?: RepoHost | undefined; readonly agentCredentials?: AgentCredentials | undefined },
  providerOf: (nameOrAlias: string) => string,
): Promise<Logins> {
  const schema = z.object({ repoHost: repoHostSchema.optional(), agentCredentials: agentCredentialsSchema.optional() });
  const { problems } = checkInput(schema, options);
  if (problems !== null) throw new SandflowError('bad_configuration', `${problems.map(problemLine).join('; ')}.`);
  const { repoHost, agentCredentials = {} } = options;
  const read = async (setting: string, path: string): Promise<string> =>
    headerSecret(`${setting}: ${path}`, await requireSecretFile(path, { what: `the file of ${setting}` }));
  const agents = new Map<string, Variables>();
  for (const [name, files] of Object.entries(agentCredentials)) {
    const provider = providerOf(name);
    const variables = { ...agents.get(provider) };
    for (const [variable, path] of Object.entries(files)) {
      variables[variable] = await read(`agentCredentials.${name}.${variable}`, path);
    }
    agents.set(provider, variables);
  }
  const token = repoHost && (await read('repoHost.tokenFile', repoHost.tokenFile));
  return { repoHost: repoHost && token ? gitLogin(repoHost, token) : {}, agents };
}

/** True if the logins are those of the creator of this sandbox. */
export function isOfUser({ ownerId }: Pick<SandboxRecord, 'ownerId'>): boolean {
  return ownerId === firstAccountId;
}

/**
 * The login as variables: nothing is written to a disk, so no snapshot holds it. The helper names the variables, so no
 * list of processes shows their values. The empty helper before it keeps others from being asked, and from storing the
 * login where they store theirs.
 */
function gitLogin({ url, login }: RepoHost, token: string): Variables {
  const helper = `!f() { test "$1" != get || printf 'username=%s\\npassword=%s\\n' "$SANDBOX_REPO_LOGIN" "$SANDBOX_REPO_TOKEN"; }; f`;
  return {
    SANDBOX_REPO_LOGIN: login,
    SANDBOX_REPO_TOKEN: token,
    GIT_CONFIG_COUNT: '2',
    ...{ GIT_CONFIG_KEY_0: `credential.${url}.helper`, GIT_CONFIG_VALUE_0: '' },
    ...{ GIT_CONFIG_KEY_1: `credential.${url}.helper`, GIT_CONFIG_VALUE_1: helper },
  };
}
