/** Activities that change the account. Retry class `safe`: repeating one leaves the account in the same state. */
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type {
  DataRetentionBody,
  SelectRepoBody,
  UpgradeEnvironmentBody,
} from '../../src/contract/requests/account-requests.js';
import type { UpdateWebhookBody } from '../../src/contract/requests/sandbox-requests.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { repeatable } from '../retry/attempt.js';
import { oneCall, oneCallIfThere } from '../retry/one-call.js';
import { webhookView } from './redact.js';
import { takeSecret } from './secrets.js';

export interface UpdateSecretsInput {
  /** References to values in the worker's secret store. The values themselves would stay in the history. */
  readonly set?: Readonly<Record<string, { readonly secretRef: string }>>;
  readonly unset?: readonly string[];
}

export function createAccountWrites(client: SandboxClient, secrets: SecretStore) {
  return {
    /** The service refuses API keys here (specification, "Authentication"). */
    updateDataRetention: (body: DataRetentionBody) =>
      oneCall(async (o) => (await client.updateDataRetention(body, o)).policy),

    selectRepo: (body: SelectRepoBody) => oneCall(async (o) => (await client.selectRepo(body, o)).repo),

    /** Sets and unsets secrets of the account. @returns the names of all secrets */
    updateSecrets: (input: UpdateSecretsInput): Promise<string[]> =>
      repeatable(async ({ call }) => {
        const set: Record<string, string> = {};
        for (const [name, { secretRef }] of Object.entries(input.set ?? {})) {
          set[name] = await takeSecret(secrets, secretRef);
        }
        const body = { set, unset: [...(input.unset ?? [])] };
        const answer = await call((signal) => client.updateSecrets(body, { signal }));
        return answer.secrets.map(({ name }) => name);
      }),

    /**
     * Moves sandboxes to the latest version of an environment; null if the environment does not exist. A repetition
     * moves those that are left, also to a version that was made in between.
     * @returns how many this call moved; `repeated` if an earlier one, whose answer was lost, may have moved others
     */
    upgradeEnvironment: (environmentId: string, body: UpgradeEnvironmentBody = {}) =>
      repeatable(async ({ call, maybeSent }) => {
        const answer = await orNullWhenMissing(
          call((signal) => client.upgradeEnvironment(environmentId, body, { signal })),
        );
        if (answer === null) return null;
        const { upgraded, failed } = answer;
        return { upgraded, failed, ...(maybeSent && { repeated: true }) };
      }),

    /** Edits a webhook in place; null if it does not exist. */
    updateWebhook: (webhookId: string, body: UpdateWebhookBody) =>
      oneCallIfThere(async (o) => webhookView((await client.updateWebhook(webhookId, body, o)).webhook)),

    /** Deletes a webhook with its queue. @returns false if it did not exist */
    deleteWebhook: async (webhookId: string) =>
      (await oneCallIfThere((o) => client.deleteWebhook(webhookId, o))) !== null,

    /** Disables a key immediately. @returns false if it did not exist */
    revokeApiKey: async (apiKeyId: string) => (await oneCallIfThere((o) => client.revokeApiKey(apiKeyId, o))) !== null,
  };
}
