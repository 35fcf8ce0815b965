import type { AddCommand } from '../command.js';
import { UsageError } from '../usage-error.js';

interface Options {
  readonly url: string;
  readonly name?: string;
  readonly rotate?: boolean;
  readonly json?: boolean;
}

export const addWebhooksEnsure: AddCommand = (parent, context) => {
  parent
    .command('ensure')
    .description('Register the bridge, or adopt an existing registration; the secret goes to its file')
    .requiredOption('--url <url>', 'URL at which the service reaches the bridge: https://…/webhooks/sandbox')
    .option('--name <name>', 'display name at the service (default: sandflow DEPLOYMENT)')
    .option('--rotate', 'replace the secret, for example if the current one is lost')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: Options) => {
      const { io } = context;
      const { url } = options;
      const protocol = URL.canParse(url) ? new URL(url).protocol : '';
      if (protocol !== 'https:' && protocol !== 'http:') {
        throw new UsageError(`--url: "${url}" is not a URL, like https://bridge.example.com/webhooks/sandbox.`);
      }
      const { isLoopbackHost } = await import('../../contract/urls.js');
      if (protocol === 'http:' && !isLoopbackHost(new URL(url).hostname)) {
        throw new UsageError('--url: the service delivers to https:// only; http:// is for a bridge on this machine.');
      }
      const { withService } = await import('../connect/with-service.js');
      const { ensureWebhook } = await import('../../bridge/index.js');
      const { printJson } = await import('../output/json.js');
      const { ensured, secretFile } = await withService(context, async ({ service, reads, config }) => ({
        ensured: await ensureWebhook(
          { ...service, ...reads },
          {
            url,
            name: options.name ?? `sandflow ${config.deployment}`,
            secretFile: config.webhookSecretFile,
            rotate: options.rotate,
            currentSecrets: config.webhookSecrets,
          },
        ),
        secretFile: config.webhookSecretFile,
      }));
      const { webhookId, action } = ensured;
      if (options.json) return printJson(io.stdout, { webhookId, action, secretFile, error: null });
      const kept = action === 'created' || action === 'rotated' ? ` Its secret is kept in ${secretFile}.` : '';
      io.stderr.write(`Webhook ${webhookId} for ${url}: ${action}.${kept}\n`);
    });
};
