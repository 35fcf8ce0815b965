/** The rules for URLs of webhooks (specification, "Delivery semantics"; assumptions, last section; trap S9). */
import { isIP } from 'node:net';
import { ServiceError } from '../service-error.js';
import { isPublicAddress } from './public-address.js';

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** True for the addresses of this machine that the local mode accepts. */
export function isLoopbackUrl(url: URL): boolean {
  return url.protocol === 'http:' && loopbackHosts.has(url.hostname);
}

/**
 * Checks the URL of a webhook without resolving its name.
 * @param strict true refuses loopback addresses too, as the real service does
 * @throws ServiceError `invalid_url`
 */
export function requireWebhookUrl(text: string, strict: boolean): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new ServiceError(
      400,
      'invalid_url',
      'The webhook URL is not valid. Use a URL such as https://hooks.example.com/sandbox.',
      {
        cause,
      },
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ServiceError(400, 'invalid_url', 'The webhook URL must not contain a user name or a password.');
  }
  if (!strict && isLoopbackUrl(url)) return url;
  if (url.protocol !== 'https:' || url.port !== '') {
    const local = strict ? '' : ' The local service also accepts http to 127.0.0.1, [::1] or localhost.';
    throw new ServiceError(400, 'invalid_url', `The webhook URL must be https on port 443.${local}`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))) {
    throw new ServiceError(400, 'invalid_url', 'The webhook URL must resolve to a public address.');
  }
  return url;
}
