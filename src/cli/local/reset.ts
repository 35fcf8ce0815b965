/** `sandflow local reset`. */
import { webhookPath } from '../../bridge/webhook-path.js';
import type { CommandContext } from '../command.js';
import { withLocalAdmin } from '../connect/local-admin.js';
import { readStatus } from '../connect/stack-status.js';
import type { ServiceAtHand } from '../connect/with-service.js';
import { failureOf } from '../errors.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

export async function resetState(
  { yes, json }: { readonly yes?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  if (!yes) throw new UsageError('This deletes every sandbox of the local service. Confirm with --yes.');
  await withLocalAdmin(context, async (admin, at) => {
    await admin.call('POST', '/reset');
    await reconnectBridge(at, io);
  });
  if (json) return printJson(io.stdout, { reset: true, error: null });
  io.stderr.write('Reset the local service. It is empty now.\n');
}

/**
 * Registers the bridge of the stack again, after the webhooks of its service were deleted. Otherwise every later job
 * would wake only by its polls.
 */
async function reconnectBridge(at: ServiceAtHand, io: CliIo): Promise<void> {
  const stack = (await readStatus(at.config.home))?.stack;
  if (!stack?.bridgeAddress || stack.sandboxApiUrl !== at.config.sandboxService?.apiUrl) return;
  const { connectWebhook } = await import('../webhooks/connect-webhook.js');
  const wanted = { url: `${stack.bridgeAddress}${webhookPath}`, stack, signal: io.interrupted };
  const why = await connectWebhook(at, wanted).then(
    ({ check }) => (check?.result === 'accepted' ? undefined : check?.text),
    (error: unknown) => failureOf(error).error.message,
  );
  if (why === undefined) return;
  const text = `The bridge could not be registered again: ${why}. Jobs wake late until \`${programName} webhooks connect\` succeeds.`;
  io.stderr.write(`${oneLine(text)}\n`);
}
