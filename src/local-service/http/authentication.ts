import { createHash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../domain/caller.js';
import { ServiceError } from '../service-error.js';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whose key the bearer header holds, compared in constant time. @throws ServiceError `unauthorized` */
export function createAuthentication(apiKey: string): (header: string | undefined) => Caller {
  const expected = digest(apiKey);
  const account: Caller = { accountId: 'acct_local', kind: 'api_key', keyId: null, scope: null };
  return (header) => {
    const token = /^Bearer (.+)$/i.exec(header ?? '')?.[1];
    // Digests have one length, so that neither the length nor the content of the key shows in the time taken.
    if (token !== undefined && timingSafeEqual(digest(token.trim()), expected)) return account;
    throw new ServiceError(401, 'unauthorized', 'The bearer token is missing or not valid.');
  };
}
