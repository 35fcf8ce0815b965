/** Checks that a webhook for the bridge is registered, that the bridge is ready, and that it has a signing secret. */

import { hasEvent, readPrefix, readRefusals, setPrefix } from '../../bridge/refused-deliveries.js';
import { readSecrets } from '../../bridge/secret-source.js';
import { bridgeBaseOf, webhookPath } from '../../bridge/webhook-path.js';
import type { Config } from '../../config.js';
import type { Webhook } from '../../contract/records/sandbox-records.js';
import { sandboxEventTypes } from '../../contract/workflow-safe/states.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { isLoopbackHost, withoutEndSlashes } from '../../texts/urls.js';
import { answerText } from '../connect/answer-text.js';
import type { ServiceReads } from '../connect/ask-service.js';
import { failureOf } from '../errors.js';
import { asCalled, programName } from '../program-name.js';
import { bridgesAmong } from '../webhooks/bridges-among.js';
import { isBridgeAt, sendTestDelivery } from '../webhooks/test-delivery.js';
import { type Check, failed, ok, skipped, warning } from './check.js';
import { webhookAction } from './needed-actions.js';

const timeoutMs = 10_000;
const meanwhile = 'Jobs still run, but rely on safety polls and react later';

/**
 * @param apiUrl base URL of the service whose registrations are read
 * @param ownBridge address of the bridge of the embedded stack; undefined if there is none
 */
export async function checkWebhook(
  reads: Pick<ServiceReads, 'listWebhooks'>,
  apiUrl: string,
  ownBridge?: string,
): Promise<{ check: Check; bridgeUrl: string | undefined }> {
  let webhooks: Webhook[];
  try {
    ({ webhooks } = await reads.listWebhooks({ timeoutMs }));
  } catch (error) {
    const { message, status } = failureOf(error).error;
    const mend =
      status === 403
        ? `Use a key with the action ${webhookAction} to check this, and for \`${programName} webhooks\`; nothing else needs it.`
        : 'Fix the problem with the service first.';
    return { check: warning('webhook', `The webhooks cannot be read: ${message}`, mend), bridgeUrl: undefined };
  }
  const isHere = isLoopbackHost(new URL(apiUrl).hostname);
  const place = isHere ? '' : ' --url https://YOUR-BRIDGE/webhooks/sandbox';
  const ensure = `Run \`${programName} webhooks connect${place}\`.`;
  const [first, ...others] = bridgesAmong(webhooks);
  if (!first) {
    const other = webhooks.length > 0 ? ` No registered URL ends with ${webhookPath}: ${urlsOf(webhooks)}.` : '';
    const check = failed('webhook', `No bridge is registered.${other} ${meanwhile}.`, ensure);
    return { check, bridgeUrl: undefined };
  }
  const { origin, pathname } = new URL(first.url);
  const bridgeUrl = `${origin}${bridgeBaseOf(pathname) ?? ''}`;
  if (isHere && ownBridge !== undefined && ![first, ...others].some(({ url }) => new URL(url).origin === ownBridge)) {
    const message = `${first.url} is registered, but the bridge of this stack listens at ${ownBridge}. ${meanwhile}.`;
    return { check: failed('webhook', message, ensure), bridgeUrl };
  }
  const covered = [first, ...others].some(({ events }) => sandboxEventTypes.every((type) => events.includes(type)));
  if (!covered) {
    const check = failed('webhook', `${first.url} is not registered for all four events. ${meanwhile}.`, ensure);
    return { check, bridgeUrl };
  }
  return { check: ok('webhook', `Registered: ${urlsOf([first, ...others])}.`), bridgeUrl };
}

const urlsOf = (webhooks: readonly Webhook[]) => webhooks.map(({ url }) => url).join(', ');

export async function checkSecret(config: Pick<Config, 'webhookSecrets' | 'webhookSecretFile'>): Promise<Check> {
  let kept: readonly string[] = [];
  try {
    kept = await readSecrets(config.webhookSecretFile);
  } catch (error) {
    // The file may be that of another user, who runs the bridge.
    if (error instanceof SandflowError) return failed('secret', error.message, 'Correct the file, or remove it.');
  }
  const count = new Set([...config.webhookSecrets, ...kept]).size;
  if (count > 0) return ok('secret', `${count} webhook ${count === 1 ? 'secret is' : 'secrets are'} available.`);
  return warning(
    'secret',
    'No webhook secret found on this machine; the bridge needs one.',
    `Run \`${programName} webhooks connect\`, or set SANDBOX_WEBHOOK_SECRET where the bridge runs.`,
  );
}

/**
 * Checks that the bridge is ready, and that it has the secret of this machine, if there is one.
 * @param bridgeUrl base URL of the bridge; undefined if unknown
 */
export async function checkBridge(
  bridgeUrl: string | undefined,
  config?: Pick<Config, 'webhookSecrets' | 'webhookSecretFile' | 'sandboxService'>,
): Promise<Check> {
  if (bridgeUrl === undefined) return skipped('bridge', "The bridge's address is unknown; set it with --bridge URL.");
  const readyUrl = `${withoutEndSlashes(bridgeUrl)}/readyz`;
  try {
    const { status, body } = await readReady(readyUrl);
    if (status === 200)
      return refusing(bridgeUrl, body) ?? (await checkAgreement(withoutEndSlashes(bridgeUrl), body, config));
    return failed('bridge', `${readyUrl} returned ${status}: ${body}`, "Check the bridge's log.");
  } catch (error) {
    const reason = failureOf(error).error.message;
    return failed(
      'bridge',
      `${readyUrl} does not answer: ${reason}.`,
      `Start it with \`${programName} bridge\`, or fix the network path to it.`,
    );
  }
}

async function readReady(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  return { status: response.status, body: (await answerText(response)).slice(0, 300) };
}

/** Whether an event of the sandbox has reached the bridge, or whether it refuses what comes. */
export async function checkDelivery(bridgeUrl: string, sandboxId: string): Promise<'arrived' | 'refused' | 'missing'> {
  const { body } = await readReady(`${withoutEndSlashes(bridgeUrl)}/readyz?sandbox=${encodeURIComponent(sandboxId)}`);
  if (hasEvent(body)) return 'arrived';
  return readRefusals(body) ? 'refused' : 'missing';
}

/** The secret of this machine may agree with the bridge's, and both be other than the service's. Also the clock. */
function refusing(bridgeUrl: string, ready: string): Check | undefined {
  const refused = readRefusals(ready);
  if (!refused) return undefined;
  const { count, why, mend } = refused;
  const message = `The bridge at ${bridgeUrl} has refused ${count === 1 ? 'a delivery' : `${count} deliveries`} since the last one that it accepted, because ${why}. ${meanwhile}.`;
  return warning('bridge', message, asCalled(mend));
}

function otherHeaders(ready: string, config: Pick<Config, 'sandboxService'> | undefined): Check | undefined {
  const prefix = readPrefix(ready);
  if (prefix === undefined || prefix === config?.sandboxService?.headerPrefix) return undefined;
  return warning('bridge', `The headers of the service's deliveries begin with ${prefix}.`, setPrefix(prefix));
}

async function checkAgreement(
  bridgeUrl: string,
  body: string,
  config: Pick<Config, 'webhookSecrets' | 'webhookSecretFile' | 'sandboxService'> | undefined,
): Promise<Check> {
  const ready = otherHeaders(body, config) ?? ok('bridge', `The bridge is ready at ${bridgeUrl}.`);
  const kept = config ? await readSecrets(config.webhookSecretFile).catch(() => []) : [];
  const [secret] = [...kept, ...(config?.webhookSecrets ?? [])];
  if (secret === undefined) {
    const { isBridge, text } = await isBridgeAt(`${bridgeUrl}${webhookPath}`);
    if (isBridge) return ready;
    const message = `${bridgeUrl} is ready, but ${bridgeUrl}${webhookPath} is no bridge: ${text}. ${meanwhile}.`;
    return failed('bridge', message, 'Route this path to the bridge, or correct the URL of the registration.');
  }
  const { result, text, mend } = await sendTestDelivery(`${bridgeUrl}${webhookPath}`, secret);
  if (result === 'accepted' && ready.status !== 'ok') return ready;
  if (result === 'accepted')
    return ok('bridge', `The bridge is ready at ${bridgeUrl} and has the secret of this machine.`);
  const ofSecret = `Run \`${programName} webhooks connect\`, or copy the secret to the machine of the bridge.`;
  return failed(
    'bridge',
    `${bridgeUrl} is ready, but a test delivery failed: ${text}. ${meanwhile}.`,
    mend ?? ofSecret,
  );
}
