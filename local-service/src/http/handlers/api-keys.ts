import { isUnrestricted } from '../../access/key-scope.js';
import { apiKeyView, catalogOf, resourcesOf, usageOf } from '../../accounts/api-key-view.js';
import { createScopedKey, keyFor, revokeKey, rotateKey } from '../../accounts/api-keys.js';
import type { Operations } from '../operation.js';

/** Specification, "API key endpoints" and "Key lifecycle". The routes of rotate and revoke accept only sessions. */
export const apiKeyOperations = {
  listApiKeys(context, { caller: { accountId, scope } }) {
    const keys = isUnrestricted(scope) ? context.stores.credentials.keysOf(accountId) : [];
    return { fields: { apiKeys: keys.map((key) => apiKeyView(context, key)), catalog: catalogOf(context) } };
  },

  createApiKey(context, { caller, body }) {
    const { credential, secret } = createScopedKey(context, caller, body);
    return { fields: { apiKey: apiKeyView(context, credential), secret } };
  },

  getApiKeyUsage(context, { caller, params: { apiKeyId } }) {
    const { id } = keyFor(context, caller, apiKeyId);
    return { fields: { usage: usageOf(context, id), resources: resourcesOf(context, id) } };
  },

  rotateApiKey(context, { caller, params: { apiKeyId } }) {
    const { credential, secret } = rotateKey(context, caller, apiKeyId);
    return { fields: { apiKey: apiKeyView(context, credential), secret } };
  },

  revokeApiKey(context, { caller, params: { apiKeyId } }) {
    return { fields: { apiKey: apiKeyView(context, revokeKey(context, caller, apiKeyId)) } };
  },
} satisfies Partial<Operations>;
