/** `sandflow local clock`, `seed` and `reset`: they read and change a running local service. */

import { resolve } from 'node:path';
import { z } from 'zod';
import { webhookPath } from '../../bridge/webhook-path.js';
import { parseJson } from '../../texts/parse-json.js';
import type { CommandContext, JsonOption } from '../command.js';
import { readAnswer, withLocalAdmin } from '../connect/local-admin.js';
import { readStatus } from '../connect/stack-status.js';
import type { ServiceAtHand } from '../connect/with-service.js';
import { failureOf } from '../errors.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { readTextFile } from '../text-file.js';
import { anyLength, parseDurationMs, plural } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ClockOptions } from './options.js';

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

const clockSchema = z.object({ now: z.string(), held: z.boolean() });

export async function setClock({ hold, release, advance, json }: ClockOptions, context: CommandContext): Promise<void> {
  if (hold && release) throw new UsageError('Use --hold or --release, not both.');
  const advanceMs = parseDurationMs(advance, '--advance', anyLength);
  const advanceSeconds = advanceMs === undefined ? undefined : advanceMs / 1_000;
  const held = hold ? true : release ? false : undefined;
  const body = JSON.stringify({ held, advanceSeconds, catchUp: release });
  const changes = held !== undefined || advanceSeconds !== undefined;
  const answer = await withLocalAdmin(context, (admin) =>
    changes ? admin.call('POST', '/clock', body) : admin.call('GET', '/clock'),
  );
  const clock = readAnswer(clockSchema, answer.clock);
  if (json) return printJson(context.io.stdout, { clock, error: null });
  context.io.stdout.write(`${oneLine(clock.now)}${clock.held ? ' (held)' : ''}\n`);
}

const snapshotsSchema = z
  .array(z.object({ name: z.string().nullable() }))
  .optional()
  .default([]);

export async function seedState(file: string, { json }: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const path = resolve(io.cwd, file);
  const body = await readTextFile(path, path);
  const seed = parseJson(body);
  if (typeof seed !== 'object' || seed === null || Array.isArray(seed))
    throw new UsageError(`${path} is not a JSON object. It must be a seed file, like examples/seed.json.`);
  const { accounts, environments, sandboxes, snapshots, webhooks } = await withLocalAdmin(context, (admin) =>
    admin.callToEnd('/seed', body),
  );
  if (json) return printJson(io.stdout, { accounts, environments, sandboxes, snapshots, webhooks, error: null });
  const count = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
  const names = readAnswer(snapshotsSchema, snapshots).flatMap(({ name }) => name ?? []);
  const named = names.length === 0 ? '' : ` Snapshots: ${names.join(', ')}.`;
  const others = [
    plural(count(webhooks), 'webhook'),
    plural(count(environments), 'environment'),
    plural(count(accounts), 'account'),
  ].join(', ');
  const made = count(sandboxes);
  io.stderr.write(`${oneLine(`Created ${made} sandbox${made === 1 ? '' : 'es'}, ${others}.${named}`)}\n`);
}
