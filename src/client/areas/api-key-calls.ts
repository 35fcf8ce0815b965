import type { CreateApiKeyBody } from '../../contract/requests/account-requests.js';
import type { Answer, CallOptions } from '../call-options.js';

/** Scoped API keys. Rotate and revoke need an interactive session (specification, "Key lifecycle"). */
export interface ApiKeyCalls {
  listApiKeys(options?: CallOptions): Answer<'listApiKeys'>;
  /** Each call creates a key; repeat until one response is read and its secret stored. */
  createApiKey(body: CreateApiKeyBody, options?: CallOptions): Answer<'createApiKey'>;
  /** Works after revocation too. */
  getApiKeyUsage(apiKeyId: string, options?: CallOptions): Answer<'getApiKeyUsage'>;
  /** Each call replaces the secret again, at once. Repeat until one answer has been read and its secret stored. */
  rotateApiKey(apiKeyId: string, options?: CallOptions): Answer<'rotateApiKey'>;
  /** Safe to repeat. */
  revokeApiKey(apiKeyId: string, options?: CallOptions): Answer<'revokeApiKey'>;
}
