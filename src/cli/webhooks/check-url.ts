/** Checks the URL of a webhook on the command line. */
import { keepUrlSecrets } from '../../secrecy/known-secrets.js';
import { isLoopbackHost } from '../../texts/urls.js';
import { UsageError } from '../usage-error.js';

/** @throws UsageError for a URL that the service cannot deliver to */
export function checkUrl(url: string): void {
  keepUrlSecrets(url);
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new UsageError(`--url: "${url}" is not a URL, like https://bridge.example.com/webhooks/sandbox.`);
  }
  if (protocol === 'http:' && !isLoopbackHost(new URL(url).hostname)) {
    throw new UsageError(
      '--url: the service delivers only to https://. Use http:// only for a bridge on this machine.',
    );
  }
}
