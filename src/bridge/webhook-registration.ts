/** Registers the bridge at the service and stores its secret. Creates, adopts, repairs or rotates the registration. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxClient } from '../client/create-sandbox-client.js';
import { ApiError, ConnectionError, TimeoutError } from '../client/errors.js';
import type { Webhook } from '../contract/records/sandbox-records.js';
import { lateCallMs } from '../contract/workflow-safe/limits.js';
import { sandboxEventTypes } from '../contract/workflow-safe/states.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { requireOptions } from '../settings/required-options.js';
import { isReserved, reserveSecretFile, type SecretReservation } from './secret-file.js';
import { readSecrets } from './secret-source.js';

/** Options of `ensureWebhook`. */
export interface EnsureWebhookOptions {
  /** Public URL of the bridge, with its path. */
  readonly url: string;
  /** Display name at the service. */
  readonly name: string;
  /** File of the secrets of one webhook: mode 600, newest first. */
  readonly secretFile: string;
  /** Replaces the secret of an existing webhook, for example if it is lost. Default: false. */
  readonly rotate?: boolean;
  /** Secrets from other sources, such as the environment. Default: none. */
  readonly currentSecrets?: readonly string[];
  /** Pauses before each retry after an ambiguous failure, in ms. Default: 500 and 2 000. */
  readonly retryDelaysMs?: readonly number[];
  /** How long a rotation without an answer may still take effect, in ms. The next one waits. Default: 30 000. */
  readonly lateForMs?: number;
}

/** The result of `ensureWebhook` and `rotateWebhook`. */
export interface EnsuredWebhook {
  /** Id of the webhook at the service. */
  readonly webhookId: string;
  /** `adopted`: the webhook existed as it should be. `updated`: missing events were added to it. */
  readonly action: 'created' | 'adopted' | 'updated' | 'rotated';
}

const allEvents = [...sandboxEventTypes];
const defaultRetryDelaysMs = [500, 2_000];

/**
 * Makes sure that one webhook delivers all four events to `url` and that its secret is known here. Safe to repeat. The
 * secret is written to its file and never returned. If two processes create a webhook at the same time, the later
 * webhook is deleted.
 * @throws SandflowError `webhook_secret_unknown`, `webhook_duplicate`, `secret_file_unwritable`; the client's errors
 * @example
 * const url = 'https://bridge.example.com/webhooks/sandbox';
 * const { webhookId } = await ensureWebhook(api, { url, name: 'sandflow', secretFile: file });
 */
export async function ensureWebhook(client: SandboxClient, options: EnsureWebhookOptions): Promise<EnsuredWebhook> {
  requireOptions({ client }, { client: 'an object' });
  requireOptions(options, { url: 'a text', name: 'a text', secretFile: 'a text' });
  const existing = await findByUrl(client, options.url);
  if (existing === undefined) return createWebhook(client, options);

  const { id: webhookId } = existing;
  // Another process of the same home may have created the webhook and may be about to store its secret.
  if (!options.rotate && (await waitedForSecret(options))) return ensureWebhook(client, options);
  if (!options.rotate) await requireSecret(webhookId, options);
  const lacking = allEvents.some((event) => !existing.events.includes(event));
  if (lacking) await client.updateWebhook(webhookId, { events: allEvents });
  if (options.rotate) return rotateWebhook(client, webhookId, options);
  return { webhookId, action: lacking ? 'updated' : 'adopted' };
}

/**
 * Replaces the signing secret and makes the new one the first in its file. The previous secret stays second until the
 * next rotation, because an attempt that is already under way may have its signature (trap S10). The rotation is
 * repeated until a secret has been read. After a lost answer it waits for `lateForMs`: the lost call could be executed
 * after the next one, and make its secret invalid.
 * @throws SandflowError `secret_file_unwritable`, before anything is replaced; the client's errors
 * @example
 * await rotateWebhook(api, webhookId, { secretFile: '/var/lib/sandflow/webhook-secrets' });
 */
export async function rotateWebhook(
  client: SandboxClient,
  webhookId: string,
  options: Pick<EnsureWebhookOptions, 'secretFile' | 'retryDelaysMs' | 'lateForMs'>,
): Promise<EnsuredWebhook> {
  const { retryDelaysMs = defaultRetryDelaysMs, lateForMs = lateCallMs } = options;
  return reserved(options.secretFile, async (reservation) => {
    const { secret } = await repeated(() => client.rotateWebhookSecret(webhookId), retryDelaysMs, lateForMs);
    await reservation.keep(secret);
    return { webhookId, action: 'rotated' };
  });
}

async function createWebhook(client: SandboxClient, options: EnsureWebhookOptions): Promise<EnsuredWebhook> {
  const { url, name, secretFile, retryDelaysMs = defaultRetryDelaysMs } = options;
  let unclear: unknown;
  let created: EnsuredWebhook | undefined;
  try {
    created = await reserved(secretFile, async (reservation): Promise<EnsuredWebhook | undefined> => {
      const { webhook, secret } = await client.createWebhook({ name, url, events: allEvents });
      if (await yields(client, webhook, retryDelaysMs)) return undefined;
      await reservation.keep(secret);
      return { webhookId: webhook.id, action: 'created' };
    });
  } catch (error) {
    if (!mayHaveHappened(error)) throw error;
    unclear = error;
  }
  if (unclear === undefined) return created ?? ensureWebhook(client, options);

  // The answer is lost, and the secret with it. The list may show whether the webhook was created.
  for (const delayMs of [0, ...retryDelaysMs]) {
    await sleep(delayMs);
    const appeared = await repeated(() => findByUrl(client, url), retryDelaysMs);
    if (appeared) return { ...(await rotateWebhook(client, appeared.id, options)), action: 'created' };
  }
  throw unclear;
}

/**
 * Another process may have registered the same webhook at the same time. The older of the two is kept or, at the same
 * age, the one with the smaller id. If this is not ours, deletes ours and returns true. Reads the list twice, because
 * the other webhook may appear right after the first read.
 */
async function yields(client: SandboxClient, own: Webhook, retryDelaysMs: readonly number[]): Promise<boolean> {
  for (const delayMs of [0, ...retryDelaysMs.slice(0, 1)]) {
    await sleep(delayMs);
    const same = await repeated(() => listOf(client, own.url), retryDelaysMs).catch(() => []);
    if (!same.some((other) => other.name === own.name && goesBefore(other, own))) continue;
    await repeated(() => client.deleteWebhook(own.id), retryDelaysMs);
    return true;
  }
  return false;
}

function goesBefore(other: Webhook, own: Webhook): boolean {
  const [theirs, ours] = [other, own].map(({ createdAt }) => Date.parse(String(createdAt)));
  if (theirs !== undefined && ours !== undefined && theirs !== ours && !Number.isNaN(theirs - ours))
    return theirs < ours;
  return other.id < own.id;
}

async function listOf(client: SandboxClient, url: string): Promise<readonly Webhook[]> {
  const wanted = new URL(url).href;
  const { webhooks } = await client.listWebhooks();
  return webhooks.filter((one) => URL.canParse(one.url) && new URL(one.url).href === wanted);
}

async function findByUrl(client: SandboxClient, url: string): Promise<Webhook | undefined> {
  const [first, ...others] = await listOf(client, url);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((one) => one?.id).join(', ');
  throw new SandflowError(
    'webhook_duplicate',
    `Several webhooks deliver to ${url}: ${ids}. Keep the one whose secret you have; delete the others with \`sandflow webhooks delete <id>\`.`,
  );
}

async function waitedForSecret(options: EnsureWebhookOptions): Promise<boolean> {
  let waited = false;
  while (!(await hasSecret(options)) && (await isReserved(options.secretFile))) {
    waited = true;
    await sleep(50);
  }
  return waited;
}

async function hasSecret({ secretFile, currentSecrets = [] }: EnsureWebhookOptions): Promise<boolean> {
  return currentSecrets.length > 0 || (await readSecrets(secretFile)).length > 0;
}

async function requireSecret(webhookId: string, options: EnsureWebhookOptions): Promise<void> {
  if (await hasSecret(options)) return;
  throw new SandflowError(
    'webhook_secret_unknown',
    `Webhook ${webhookId} already delivers to ${options.url}, but its secret is not on this machine. Write the secret to ${options.secretFile}, or replace it: \`sandflow webhooks connect --url ${options.url} --rotate\`.`,
  );
}

async function reserved<T>(file: string, use: (reservation: SecretReservation) => Promise<T>): Promise<T> {
  const reservation = await reserveSecretFile(file);
  try {
    return await use(reservation);
  } finally {
    await reservation.discard();
  }
}

/**
 * Makes a call that is safe to repeat, and repeats it after failures that may pass.
 * @param lateForMs pause, at least, after a call that may have taken effect
 */
async function repeated<T>(attempt: () => Promise<T>, delaysMs: readonly number[], lateForMs = 0): Promise<T> {
  for (const delayMs of delaysMs) {
    let isLost = false;
    try {
      return await attempt();
    } catch (error) {
      const mayPass = error instanceof ConnectionError && error.problem === undefined;
      const noAnswer = mayPass || error instanceof TimeoutError;
      isLost = mayHaveHappened(error);
      if (!noAnswer && !isLost) throw error;
    }
    await sleep(isLost ? Math.max(delayMs, lateForMs) : delayMs);
  }
  return attempt();
}

/** Whether the call may have taken effect although it failed. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return error.requestSent;
  if (error instanceof ApiError) return !error.typed || error.status >= 500;
  return error instanceof SandflowError && error.code === 'unexpected_response';
}
