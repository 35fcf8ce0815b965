/** Activities that change the account. Retry class `safe`: repeating one leaves the account in the same state. */
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { DataRetention, Repo } from '../../src/contract/records/account-records.js';
import type {
  DataRetentionBody,
  SelectRepoBody,
  UpgradeEnvironmentBody,
} from '../../src/contract/requests/account-requests.js';
import type { UpdateWebhookBody } from '../../src/contract/requests/sandbox-requests.js';
import type { SecretStore } from '../../src/secret-store/index.js';
import { repeatable } from '../retry/attempt.js';
import { oneCall, oneCallIfThere } from '../retry/one-call.js';
import { type WebhookView, webhookView } from './redact.js';
import { takeSecret } from './secrets.js';

export interface UpdateSecretsInput {
  /** References to values in the worker's secret store. The values themselves would stay in the history. */
  readonly set?: Readonly<Record<string, { readonly secretRef: string }>>;
  readonly unset?: readonly string[];
}

export function createAccountWrites(client: SandboxClient, secrets: SecretStore) {
  return {
    /** The service refuses API keys here (specification, "Authentication"). */
    async updateDataRetention(body: DataRetentionBody): Promise<DataRetention> {
      return oneCall(async (o) => (await client.updateDataRetention(body, o)).policy);
    },

    async selectRepo(body: SelectRepoBody): Promise<Repo> {
      return oneCall(async (o) => (await client.selectRepo(body, o)).repo);
    },

    /** Sets and unsets secrets of the account. @returns the names of all secrets */
    async updateSecrets(input: UpdateSecretsInput): Promise<string[]> {
      return repeatable(async ({ call }) => {
        const set: Record<string, string> = {};
        for (const [name, { secretRef }] of Object.entries(input.set ?? {})) {
          set[name] = await takeSecret(secrets, secretRef);
        }
        const body = { set, unset: [...(input.unset ?? [])] };
        const answer = await call((signal) => client.updateSecrets(body, { signal }));
        return answer.secrets.map(({ name }) => name);
      });
    },

    /**
     * Moves sandboxes to the latest version of an environment; null if the environment does not exist. A repetition
     * moves those that are left, also to a version that was made in between.
     * @returns how many this call moved; `repeated` if an earlier one, whose answer was lost, may have moved others
     */
    async upgradeEnvironment(environmentId: string, body: UpgradeEnvironmentBody = {}) {
      return repeatable(async ({ call, maybeSent }) => {
        const answer = await orNullWhenMissing(
          call((signal) => client.upgradeEnvironment(environmentId, body, { signal })),
        );
        if (answer === null) return null;
        const { upgraded, failed } = answer;
        return { upgraded, failed, ...(maybeSent && { repeated: true }) };
      });
    },

    /** Edits a webhook in place; null if it does not exist. */
    async updateWebhook(webhookId: string, body: UpdateWebhookBody): Promise<WebhookView | null> {
      return oneCallIfThere(async (o) => webhookView((await client.updateWebhook(webhookId, body, o)).webhook));
    },

    /** Deletes a webhook with its queue. @returns false if it did not exist */
    async deleteWebhook(webhookId: string): Promise<boolean> {
      return (await oneCallIfThere((o) => client.deleteWebhook(webhookId, o))) !== null;
    },

    /** Disables a key immediately. @returns false if it did not exist */
    async revokeApiKey(apiKeyId: string): Promise<boolean> {
      return (await oneCallIfThere((o) => client.revokeApiKey(apiKeyId, o))) !== null;
    },
  };
}
