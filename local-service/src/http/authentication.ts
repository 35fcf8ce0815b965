/** Finds the caller whose token a request carries (specification, "Authentication"). */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Caller, callerOf } from '../access/key-scope.js';
import { hashOf } from '../accounts/credentials.js';
import type { Context } from '../core/context.js';
import { firstAccountId } from '../core/ids.js';
import { ServiceError } from '../service-error.js';

const unauthorized = (): ServiceError =>
  new ServiceError(401, 'unauthorized', 'The bearer token is missing or invalid.');

function tokenIn(header: string | undefined): string {
  const token = /^Bearer (.+)$/i.exec(header ?? '')?.[1]?.trim();
  if (token === undefined) throw unauthorized();
  return token;
}

/**
 * Finds the caller of a request. Tokens are looked up by their hash, so that the time taken reveals nothing about a
 * secret.
 * @throws ServiceError 401 `unauthorized`; 403 `api_key_expired`
 */
export function createAuthentication({
  stores,
  clock,
}: Pick<Context, 'stores' | 'clock'>): (header: string | undefined) => Caller {
  return (header) => {
    const credential = stores.credentials.byHash(hashOf(tokenIn(header)));
    const caller = credential && callerOf({ stores, clock }, credential);
    if (caller) return caller;
    const { expiresAt = null, revokedAt } = credential ?? {};
    if (expiresAt === null || revokedAt !== null || Date.parse(expiresAt) > clock.now()) throw unauthorized();
    const message = `This API key expired on ${expiresAt}. Create a new one.`;
    throw new ServiceError(403, 'api_key_expired', message, { details: { expiresAt } });
  };
}

/**
 * Admits to `/_local` only the key of the service's options, since these routes show and change what belongs to every
 * account.
 * @throws ServiceError 401 `unauthorized`; 403 `forbidden` for another key that the service knows
 */
export function createOperatorAuthentication(
  context: Pick<Context, 'stores' | 'clock'>,
  apiKey: string,
): (header: string | undefined) => Caller {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(apiKey);
  const authenticate = createAuthentication(context);
  return (header) => {
    if (timingSafeEqual(digest(tokenIn(header)), expected)) {
      return { accountId: firstAccountId, kind: 'api_key', keyId: null, credentialId: null, scope: null };
    }
    authenticate(header);
    throw new ServiceError(403, 'forbidden', 'This requires the API key with which the local service was started.');
  };
}
