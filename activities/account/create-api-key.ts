/** Retry class `evidence`: scoped keys. See `retry/send-at-most-once.ts`. Give each purpose a name of its own: it is what a key is found by. */
import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { ApiError, type SandboxClient } from '../../src/client/index.js';
import type { ApiKey } from '../../src/contract/account-records.js';
import type { CreateApiKeyBody } from '../../src/contract/account-requests.js';
import type { Counted } from '../../src/contract/service-failure.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { type Attempt, createAttempt } from '../retry/attempt.js';
import { outcomeUnknown } from '../retry/classify.js';
import { sendOnce } from '../retry/send-at-most-once.js';
import { apiKeyView } from './redact.js';
import type { KeptApiKey } from './secrets.js';
import { checkSecretsCanBeKept } from './stored-secrets.js';

type Made = { readonly kept: KeptApiKey } | { readonly lost: ApiKey };

/**
 * Creates a scoped key, once; kept as `api-key-<id>`. Where the answer is lost, the one key of this name that was not there
 * before is the one that was made: it gets a new secret. Where that is refused, as it is to API keys, it is revoked, and a
 * new one is made.
 *
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether it was made, or when one is left with a secret
 *   that nobody has; its message names it
 */
export function createApiKeyActivity(client: SandboxClient, secrets: SecretStore) {
  return async function createApiKey(body: CreateApiKeyBody): Promise<Counted<KeptApiKey>> {
    const attempt = createAttempt();
    const ofThisName = async () => {
      const { apiKeys } = await attempt.call((signal) => client.listApiKeys({ signal }));
      return apiKeys.filter(({ name }) => name === body.name);
    };
    const made = await sendOnce<Made, readonly string[]>({
      endpoint: 'createApiKey',
      attempt,
      what: `the API key "${body.name}"`,
      where: 'the list of keys',
      async before() {
        await checkSecretsCanBeKept(secrets);
        return (await ofThisName()).map(({ id }) => id);
      },
      async send(timeoutMs) {
        const { apiKey, secret } = await client.createApiKey(body, { timeoutMs });
        const { workflowExecution, activityId } = activityInfo();
        const name = apiKey?.id ?? `${workflowExecution?.runId ?? 'none'}-${activityId}`;
        const secretRef = await secrets.put(`api-key-${name}`, secret);
        return { kept: { apiKey: apiKey ? apiKeyView(apiKey) : null, secretRef } };
      },
      async look(known = []) {
        const [lost, ...others] = (await ofThisName()).filter(({ id }) => !known.includes(id));
        return lost && others.length === 0 ? { lost } : null;
      },
    });
    const value = 'kept' in made ? made.kept : await adopt(client, secrets, attempt, made.lost);
    return { value, calls: attempt.calls() };
  };
}

async function adopt(
  client: SandboxClient,
  secrets: SecretStore,
  attempt: Attempt,
  { id, name }: ApiKey,
): Promise<KeptApiKey> {
  const rotated = await unlessRefused(attempt, (signal) => client.rotateApiKey(id, { signal }));
  if (rotated) {
    const { apiKey, secret } = rotated;
    return { apiKey: apiKey ? apiKeyView(apiKey) : null, secretRef: await secrets.put(`api-key-${id}`, secret) };
  }
  if (await unlessRefused(attempt, (signal) => client.revokeApiKey(id, { signal }))) {
    // Nothing is there any more that the next one could be taken for.
    await Context.current().client.activity.heartbeat(activityInfo().taskToken, { phase: 'not_sent' });
    throw ApplicationFailure.retryable(`The key ${id}, whose secret was lost, was revoked`, 'api_key_revoked');
  }
  const left = `The key ${id}, named "${name ?? ''}", was made, and nobody has its secret. Rotate or revoke it.`;
  throw outcomeUnknown(left, { endpoint: 'createApiKey', calls: attempt.calls() });
}

/** @returns undefined where the service refuses it for good; what may pass is the next attempt's */
async function unlessRefused<T>(attempt: Attempt, make: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt.call(make);
  } catch (error) {
    if (error instanceof ApiError && error.typed && error.meaning === 'permanent') return undefined;
    const { message } = error instanceof Error ? error : { message: 'no answer' };
    throw ApplicationFailure.retryable(`The key that was made could not be given a new secret: ${message}`);
  }
}
