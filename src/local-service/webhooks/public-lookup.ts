/** Resolves the names of webhooks, and lets only public addresses through: at registration, and again at each connection. */
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../service-error.js';
import { isPublicAddress } from './public-address.js';

/** The addresses that a name leads to; rejects where it leads nowhere. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Longer than a resolver that is there takes; a name that nobody knows yet may be registered all the same. */
const registrationPatienceMs = 2_000;

export const resolveBySystem: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/**
 * A lookup to be given to the connection itself: what was checked is what is connected to, so that a name which leads
 * elsewhere a moment later (DNS rebinding) gains nothing. Fails where any of the addresses is not public.
 */
export function createPublicLookup(resolve: ResolveHost): LookupFunction {
  return (hostname, options, done) => {
    publicAddresses(hostname, resolve).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all) return done(null, found);
        const first = found[0];
        done(first ? null : new Error(`${hostname} has no address`), first?.address ?? '', first?.family);
      },
      (cause: unknown) => done(cause instanceof Error ? cause : new Error(String(cause)), ''),
    );
  };
}

async function publicAddresses(hostname: string, resolve: ResolveHost): Promise<readonly string[]> {
  const addresses = await resolve(hostname);
  if (addresses.length === 0) throw new Error(`${hostname} has no address`);
  if (!addresses.every(isPublicAddress)) throw new Error(`${hostname} leads to an address that is not public`);
  return addresses;
}

/**
 * Refuses at registration a name that is known to lead to an address that is not public. One that cannot be resolved now
 * is let pass: each delivery looks again.
 * @throws ServiceError `invalid_url`
 */
export async function requirePublicHost(url: URL, resolve: ResolveHost): Promise<void> {
  const abort = new AbortController();
  const tooLate = delay(registrationPatienceMs, [] as string[], { signal: abort.signal }).catch(() => []);
  const addresses = await Promise.race([resolve(url.hostname.replace(/^\[|\]$/g, '')).catch(() => []), tooLate]);
  abort.abort();
  if (addresses.every(isPublicAddress)) return;
  throw new ServiceError(400, 'invalid_url', 'The webhook URL leads to an address that is not public.');
}
