/**
 * Retry class `evidence`: scoped keys. See `retry/send-at-most-once.ts`. Use a different name for each purpose, because
 * later attempts find a key by its name.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { SandboxClient } from '../../src/client/index.js';
import type { ResponseOf } from '../../src/contract/endpoints/endpoints.js';
import type { ApiKey } from '../../src/contract/records/account-records.js';
import type { CreateApiKeyBody } from '../../src/contract/requests/account-requests.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { currentAttempt } from '../retry/attempt.js';
import { outcomeUnknown } from '../retry/classify.js';
import { type RotateOptions, recordDetails, rotateAdopted, unlessRefused } from '../retry/rotate.js';
import { sendOnce } from '../retry/send-at-most-once.js';
import { apiKeyView } from './redact.js';
import { checkSecretsCanBeKept, type KeptApiKey } from './secrets.js';

type Created = { readonly kept: KeptApiKey } | { readonly lost: ApiKey; readonly known: readonly string[] };

/**
 * Creates a scoped key, once, and stores its secret as `api-key-<id>`. If the answer is lost and there is exactly one
 * new key with this name, it is the created key, and its secret is rotated. The service does not allow callers with an
 * API key to rotate. In this case the new key is revoked, and another key is created.
 *
 * @throws ApplicationFailure `outcome_unknown` if it is unknown whether a key was created, or if the secret of a
 *   created key is lost. The message names that key
 */
export function createApiKeyActivity(client: SandboxClient, secrets: SecretStore, options: RotateOptions = {}) {
  const keep = async (
    id: string,
    { apiKey, secret }: ResponseOf<'createApiKey' | 'rotateApiKey'>,
  ): Promise<KeptApiKey> => {
    const secretRef = await secrets.put(`api-key-${id}`, secret);
    return { apiKey: apiKey ? apiKeyView(apiKey) : null, secretRef };
  };
  return async function createApiKey(body: CreateApiKeyBody): Promise<KeptApiKey> {
    const attempt = currentAttempt();
    const ofThisName = async () => {
      const { apiKeys } = await attempt.call((signal) => client.listApiKeys({ signal }));
      return apiKeys.filter(({ name }) => name === body.name);
    };
    const created = await sendOnce<Created, readonly string[]>({
      endpoint: 'createApiKey',
      attempt,
      what: `the API key "${body.name}"`,
      noEvidence: 'the list of keys does not show it',
      async before() {
        await checkSecretsCanBeKept(secrets);
        return (await ofThisName()).map(({ id }) => id);
      },
      async send(timeoutMs) {
        const answer = await client.createApiKey(body, { timeoutMs });
        const { workflowExecution, activityId } = activityInfo();
        const unnamed = `${workflowExecution?.runId ?? 'none'}-${activityId}`;
        return { kept: await keep(answer.apiKey?.id ?? unnamed, answer) };
      },
      async look(known = []) {
        const [lost, ...others] = (await ofThisName()).filter(({ id }) => !known.includes(id));
        return lost && others.length === 0 ? { lost, known } : null;
      },
    });
    if ('kept' in created) return created.kept;
    const { lost, known } = created;
    const { id, name } = lost;
    const rotated = await unlessRefused(() =>
      rotateAdopted(attempt, (signal) => client.rotateApiKey(id, { signal }), { ...options, known }),
    );
    if (rotated) return keep(id, rotated);
    if (await unlessRefused(() => attempt.call((signal) => client.revokeApiKey(id, { signal })))) {
      // The revoked key no longer appears, so the next attempt cannot mistake it for its own.
      await recordDetails({ phase: 'not_sent' });
      throw ApplicationFailure.retryable(`The key ${id}, whose secret was lost, was revoked`, 'api_key_revoked');
    }
    const left = `The key ${id}, named "${name ?? ''}", was created, and its secret is lost. Rotate or revoke it.`;
    throw outcomeUnknown(left, { endpoint: 'createApiKey' });
  };
}
