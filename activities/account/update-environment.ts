/**
 * Retry class `evidence`: environment update. A repetition could create another version. See
 * `retry/send-at-most-once.ts`.
 */
import type { SandboxClient } from '../../src/client/index.js';
import type { Environment } from '../../src/contract/records/account-records.js';
import type { UpdateEnvironmentBody } from '../../src/contract/requests/account-requests.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { currentAttempt } from '../retry/attempt.js';
import { sendOnce } from '../retry/send-at-most-once.js';
import { type EnvironmentView, environmentView } from './redact.js';
import { takeSecret } from './secrets.js';

export interface UpdateEnvironmentInput {
  readonly environmentId: string;
  readonly body: Omit<UpdateEnvironmentBody, 'envContents' | 'secretFiles'>;
  /** Reference to the worker's secret store. The content itself would stay in the history. */
  readonly envContentsRef?: string;
  readonly secretFiles?: readonly { readonly path: string; readonly contentsRef: string }[];
}

/**
 * Updates an environment, once. If the answer is lost, an environment that matches the request is adopted.
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether the environment was updated
 */
export function updateEnvironmentActivity(client: SandboxClient, secrets: SecretStore) {
  return async function updateEnvironment(input: UpdateEnvironmentInput): Promise<EnvironmentView> {
    const { environmentId } = input;
    const attempt = currentAttempt();
    const body = await withSecrets(input, secrets);
    return sendOnce<EnvironmentView, undefined>({
      endpoint: 'updateEnvironment',
      attempt,
      what: 'the update of the environment',
      noEvidence: `the environment ${environmentId} does not show it`,
      before: async () => undefined,
      send: async (timeoutMs) =>
        environmentView((await client.updateEnvironment(environmentId, body, { timeoutMs })).environment),
      async look() {
        const { environments } = await attempt.call((signal) => client.listEnvironments({ signal }));
        const found = environments.find(({ id }) => id === environmentId);
        return found && readsAs(found, body) ? environmentView(found) : null;
      },
    });
  };
}

async function withSecrets(input: UpdateEnvironmentInput, secrets: SecretStore): Promise<UpdateEnvironmentBody> {
  const { body, envContentsRef, secretFiles } = input;
  return {
    ...body,
    ...(envContentsRef === undefined ? {} : { envContents: await takeSecret(secrets, envContentsRef) }),
    ...(secretFiles && {
      secretFiles: await Promise.all(
        secretFiles.map(async ({ path, contentsRef }) => ({ path, contents: await takeSecret(secrets, contentsRef) })),
      ),
    }),
  };
}

/** True if the environment has all values of `wanted`. A field that the service does not show proves nothing. */
export function readsAs(found: Environment, wanted: UpdateEnvironmentBody): boolean {
  const { secretFiles, repositories, ...plain } = wanted;
  const fields: Readonly<Record<string, unknown>> = found;
  return (
    Object.entries(plain).every(([name, value]) => value === undefined || fields[name] === value) &&
    sameSet(secretFiles, found.secretFiles, (a, b) => a.path === b.path && a.contents === b.contents) &&
    sameSet(
      repositories,
      found.selectedRepositories,
      (a, b) =>
        a.repositoryId === b.databaseId &&
        (a.baseBranch === undefined || a.baseBranch === b.baseBranch) &&
        (a.setupScript === undefined || a.setupScript === b.setupScript) &&
        (a.setupBlocking === undefined || a.setupBlocking === b.setupBlocking),
    )
  );
}

function sameSet<A, B>(
  wanted: readonly A[] | undefined,
  found: readonly B[] | undefined,
  same: (a: A, b: B) => boolean,
): boolean {
  if (!wanted) return true;
  return wanted.length === (found?.length ?? 0) && wanted.every((a) => found?.some((b) => same(a, b)) === true);
}
