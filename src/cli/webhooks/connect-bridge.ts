/** `sandflow webhooks connect`: the bridge, its registration and its secret in one step. */

import { bridgeBaseOf, webhookPath } from '../../bridge/webhook-path.js';
import { isLoopbackHost } from '../../texts/urls.js';
import type { CommandContext } from '../command.js';
import { isFullyConfigured } from '../connect/configured.js';
import { readStatus } from '../connect/stack-status.js';
import { withPlatform } from '../connect/with-platform.js';
import { type ServiceAtHand, withService } from '../connect/with-service.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { pasteable } from '../output/pasteable.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';
import { type ConnectedWebhook, connectWebhook } from './connect-webhook.js';
import type { ConnectBridgeOptions } from './options.js';

interface Connection extends ConnectedWebhook {
  /** Where the bridge of the embedded stack listens; null without a stack. */
  readonly bridge: string | null;
  /** The URL that the registration was to deliver to. */
  readonly wantedUrl: string;
  readonly secretFile: string;
}

/** @returns 0 if the bridge accepted a test delivery through the URL or none was to be sent, otherwise 1 */
export async function connectBridge(options: ConnectBridgeOptions, context: CommandContext): Promise<number> {
  const { io } = context;
  const config = await io.readConfig();
  // To register needs no server of Temporal.
  const isServiceEnough = isFullyConfigured(config) || !options.test;
  const act = (at: ServiceAtHand) => connect(at, options, io.interrupted);
  const connection = isServiceEnough
    ? await withService(context, act)
    : await withPlatform(context, { quiet: options.json }, act);
  if (options.json) sayJson(connection, context);
  else say(connection, context);
  const { check } = connection;
  return check === null || check.result === 'accepted' ? exitCodes.done : exitCodes.otherOutcome;
}

async function connect(at: ServiceAtHand, options: ConnectBridgeOptions, signal: AbortSignal): Promise<Connection> {
  const { home, webhookSecretFile: secretFile } = at.config;
  const stack = (await readStatus(home))?.stack ?? undefined;
  const bridge = stack?.bridgeAddress ?? null;
  const url = options.url ?? localUrl(at, bridge);
  const connected = await connectWebhook(at, { ...options, url, stack, signal });
  return { ...connected, bridge, wantedUrl: url, secretFile };
}

/** A service on this machine delivers to the loopback interface. Any other one needs a public URL. */
function localUrl({ config: { sandboxService } }: ServiceAtHand, bridge: string | null): string {
  const apiUrl = sandboxService?.apiUrl ?? '';
  if (bridge !== null && isLoopbackHost(new URL(apiUrl).hostname)) return `${bridge}${webhookPath}`;
  const where = bridge === null ? '' : ` The bridge listens at ${bridge}; route the public URL to it.`;
  throw new UsageError(
    `Name the URL at which the service ${apiUrl} reaches the bridge: --url https://…${webhookPath}.${where}`,
  );
}

function sayJson(connection: Connection, { io }: CommandContext): void {
  const { bridge, webhookId, action, url, secretFile, check, others } = connection;
  printJson(io.stdout, {
    ...{ bridge, webhookId, action, url, secretFile },
    check: check && { result: check.result, text: check.text },
    others: others.map(({ id, url: other }) => ({ id, url: other })),
    error: null,
  });
}

function say(connection: Connection, { io }: CommandContext): void {
  const { bridge, webhookId, action, url, wantedUrl, secretFile, check, others } = connection;
  const isLeft = url !== wantedUrl;
  const rows = [
    ['bridge', bridge ?? 'not part of a stack of this home'],
    ['registration', `${webhookId} delivers to ${url} (${isLeft ? `as before, not to ${wantedUrl}` : action})`],
    [
      'secret',
      `kept in ${secretFile}${action === 'rotated' ? '; the former one stays valid until the next rotation' : ''}`,
    ],
    ['check', check?.text ?? 'none'],
  ];
  for (const [name = '', text = ''] of rows) io.stderr.write(`${name.padEnd(14)} ${oneLine(text)}\n`);
  for (const { id, url: other } of others) {
    const mend = `If nothing needs it any more: ${programName} webhooks delete ${pasteable(id, 'WEBHOOK')}`;
    io.stderr.write(`${oneLine(`${id} has the same name and delivers to ${other}. ${mend}`)}\n`);
  }
  if (check?.result === 'accepted') return;
  if (bridgeBaseOf(new URL(wantedUrl).pathname) === undefined) {
    const rewritten = 'Unless your balancer rewrites the path, deliveries get 404';
    io.stderr.write(`warning: A bridge receives deliveries at …${webhookPath}, not at this URL. ${rewritten}.\n`);
  }
  if (check === null) return;
  const mend =
    check.mend ??
    (check.result === 'refused'
      ? `Copy ${secretFile} to the machine of the bridge, or set SANDBOX_WEBHOOK_SECRET_FILE there.`
      : `Start the bridge, or route ${wantedUrl} to it${bridge === null ? '' : `, at ${bridge}`}.`);
  const byHand = `${programName} api PATCH /webhooks/${pasteable(webhookId, 'WEBHOOK')} --field url=URL`;
  const unchecked = isLeft ? ` If only this machine cannot reach that URL: ${byHand}` : '';
  io.stderr.write(`${oneLine(`${mend} Then repeat this command.${unchecked}`)}\n`);
}
