/** `sandflow webhooks list`, `rotate` and `delete`. */

import { idPatterns } from '../../contract/workflow-safe/ids.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withService } from '../connect/with-service.js';
import { printJson } from '../output/json.js';
import { printList } from '../output/table.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

export async function listRegistrations({ json }: JsonOption, context: CommandContext): Promise<void> {
  const { webhooks } = await withService(context, ({ reads }) => reads.listWebhooks());
  // Show only the fields that are known to contain no secret.
  const shown = webhooks.map(({ id, name, url, events }) => ({ id, name: name ?? null, url, events }));
  printList(context.io, json, {
    list: { webhooks: shown },
    none: 'No webhooks found.',
    header: ['ID', 'NAME', 'URL', 'EVENTS'],
    cells: ({ id, name, url, events }) => [id, name ?? '', url, events.join(',')],
  });
}

export async function rotateRegistration(
  webhookId: string,
  { json }: JsonOption,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  requireWebhookId(webhookId);
  const secretFile = await withService(context, async ({ service, config: { webhookSecretFile } }) => {
    const { rotateWebhook } = await import('../../bridge/index.js');
    await rotateWebhook(service, webhookId, { secretFile: webhookSecretFile });
    return webhookSecretFile;
  });
  if (json) printJson(io.stdout, { webhookId, action: 'rotated', secretFile, error: null });
  else io.stderr.write(`Webhook ${webhookId} has a new secret, in ${secretFile}.\n`);
}

export async function deleteRegistration(
  webhookId: string,
  { json }: JsonOption,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  requireWebhookId(webhookId);
  await withService(context, ({ service }) => service.deleteWebhook(webhookId));
  if (json) printJson(io.stdout, { webhookId, deleted: true, error: null });
  else io.stderr.write(`Deleted webhook ${webhookId}. A delivery in progress can still arrive.\n`);
}

function requireWebhookId(webhookId: string): void {
  if (idPatterns.webhook.test(webhookId)) return;
  throw new UsageError(`"${webhookId}" is not a webhook id. \`${programName} webhooks list\` lists them.`);
}
