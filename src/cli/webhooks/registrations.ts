/** `sandflow webhooks list`, `rotate` and `delete`. */

import type { CommandContext, JsonOption } from '../command.js';
import { withService } from '../connect/with-service.js';
import { printJson } from '../output/json.js';
import { printList } from '../output/table.js';

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
  await withService(context, ({ service }) => service.deleteWebhook(webhookId));
  if (json) printJson(io.stdout, { webhookId, deleted: true, error: null });
  else io.stderr.write(`Deleted webhook ${webhookId}. A delivery in progress can still arrive.\n`);
}
