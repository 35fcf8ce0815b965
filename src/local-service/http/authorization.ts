import { createHash, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../service-error.js';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Checks the bearer header in constant time. @throws ServiceError `unauthorized` */
export function createAuthorization(apiKey: string): (header: string | undefined) => void {
  const expected = digest(apiKey);
  return (header) => {
    const token = /^Bearer (.+)$/i.exec(header ?? '')?.[1];
    // Digests have one length, so that neither the length nor the content of the key shows in the time taken.
    if (token !== undefined && timingSafeEqual(digest(token.trim()), expected)) return;
    throw new ServiceError(401, 'unauthorized', 'The bearer token is missing or not valid.');
  };
}
