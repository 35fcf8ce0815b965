import { keepUrlSecrets } from '../../secrecy/known-secrets.js';
import { isLoopbackHost } from '../../texts/urls.js';
import { type AddCommand, lazily } from '../command.js';
import { UsageError } from '../usage-error.js';
import { declareConnect, declareDelete, declareList, declareRotate, declareWebhooks } from './options.js';

/** `sandflow webhooks`: manages webhooks at the service. Secrets are written to a file and never printed. */
export const addWebhooks: AddCommand = (parent, context) => {
  const webhooks = declareWebhooks(parent);
  declareConnect(webhooks).action(async (options) => {
    if (options.url !== undefined) checkUrl(options.url);
    context.exitCode = await (await import('./connect-bridge.js')).connectBridge(options, context);
  });
  declareList(webhooks).action(lazily(context, async () => (await import('./registrations.js')).listRegistrations));
  declareRotate(webhooks).action(lazily(context, async () => (await import('./registrations.js')).rotateRegistration));
  declareDelete(webhooks).action(lazily(context, async () => (await import('./registrations.js')).deleteRegistration));
};

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
