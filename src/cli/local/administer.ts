/** `sandflow local assumptions`, `clock`, `export`, `import`, `seed` and `reset`. */

import { constants, createWriteStream } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { webhookPath } from '../../bridge/webhook-path.js';
import { withoutMark } from '../../contract/texts/parse-json.js';
import type { CommandContext } from '../command.js';
import { readAnswer, withLocalAdmin } from '../connect/local-admin.js';
import { readStatus } from '../connect/stack-status.js';
import type { ServiceAtHand } from '../connect/with-service.js';
import { failureOf } from '../errors.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { printList } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { requirePlaces } from '../output-places.js';
import { replaceFile } from '../replace-file.js';
import { anyLength, parseDurationMs, plural } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ClockOptions } from './options.js';

interface JsonOption {
  readonly json?: boolean;
}

const assumptionsSchema = z.array(
  z.object({ id: z.string(), says: z.string().nullable(), count: z.number(), firstRequestId: z.string() }),
);

export async function listAssumptions({ json }: JsonOption, context: CommandContext): Promise<void> {
  const answer = await withLocalAdmin(context, (admin) => admin.call('GET', '/assumptions'));
  const assumptions = readAnswer(assumptionsSchema, answer.assumptions);
  printList(
    context.io,
    json,
    { assumptions },
    {
      none: 'No response has relied on an assumption yet.',
      header: ['ID', 'TIMES', 'FIRST REQUEST', 'ASSUMED'],
      cells: ({ id, says, count, firstRequestId }) => [id, String(count), firstRequestId, says ?? ''],
    },
  );
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
    changes ? admin.call('POST', '/clock', { body, contentType: 'application/json' }) : admin.call('GET', '/clock'),
  );
  const clock = readAnswer(clockSchema, answer.clock);
  if (json) return printJson(context.io.stdout, { clock, error: null });
  context.io.stdout.write(`${oneLine(clock.now)}${clock.held ? ' (held)' : ''}\n`);
}

export async function exportState(file: string, { json }: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const path = resolve(io.cwd, file);
  await requirePlaces([{ option: 'local export', path: file, kind: 'file' }], io.cwd);
  await replaceFile(path, (temporary) =>
    withLocalAdmin(context, async (admin) => {
      // Only the owner may read the file, because it contains keys and signing secrets. Somebody else may have created
      // the temporary file meanwhile, in a folder that others may write to.
      await pipeline(await admin.download('/export'), createWriteStream(temporary, { mode: 0o600, flags: 'wx' }));
    }),
  );
  const { size: sizeBytes } = await stat(path);
  if (json) return printJson(io.stdout, { file: path, sizeBytes, error: null });
  io.stderr.write(`Exported the state to ${path} (${sizeBytes} bytes). The file contains secrets.\n`);
}

export async function importState(file: string, { json }: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const path = resolve(io.cwd, file);
  const archive = await openArchive(path);
  const { sandboxes, snapshots, exportedAt } = await withLocalAdmin(context, async (admin, at) => {
    const imported = await admin.call('POST', '/import', {
      body: archive.createReadStream(),
      contentType: 'application/gzip',
    });
    await reconnectBridge(at, io);
    return imported;
  }).finally(() => archive.close());
  if (json) return printJson(io.stdout, { sandboxes, snapshots, exportedAt, error: null });
  const text = `Imported the state of ${exportedAt}: ${sandboxes} sandboxes, ${snapshots} snapshots.`;
  io.stderr.write(`${oneLine(text)}\n`);
}

/**
 * Opens the file once, and without waiting for a pipe. In a folder that others may write to, somebody could replace the
 * file after a check.
 */
async function openArchive(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw new Error('It is not a regular file.');
    return file;
  } catch (cause) {
    await file?.close();
    throw new UsageError(`${path} cannot be read. Check that it is a file, and readable.`, { cause });
  }
}

const snapshotsSchema = z
  .array(z.object({ name: z.string().nullable() }))
  .optional()
  .default([]);

export async function seedState(file: string, { json }: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const path = resolve(io.cwd, file);
  const written = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${path} cannot be read. Check that it exists and is readable.`, { cause });
  });
  const body = withoutMark(written);
  requireJsonObject(body, path);
  const { accounts, environments, sandboxes, snapshots, webhooks } = await withLocalAdmin(context, (admin) =>
    admin.call('POST', '/seed', { body, contentType: 'application/json' }),
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

function requireJsonObject(text: string, path: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${path} is not valid JSON. It must be a seed file, like examples/seed.json.`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${path} is not a JSON object. It must be a seed file, like examples/seed.json.`);
  }
}

export async function resetState(
  { yes, json }: JsonOption & { readonly yes?: boolean },
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
 * Registers the bridge of the stack again, after the webhooks of its service were deleted or replaced. Otherwise every
 * later job would wake only by its polls. The secret is replaced, because an imported registration has another one.
 */
async function reconnectBridge(at: ServiceAtHand, io: CliIo): Promise<void> {
  const stack = (await readStatus(at.config.home))?.stack;
  if (!stack?.bridgeAddress || stack.sandboxApiUrl !== at.config.sandboxService?.apiUrl) return;
  const { connectWebhook } = await import('../webhooks/connect-webhook.js');
  const wanted = { url: `${stack.bridgeAddress}${webhookPath}`, rotate: true, stack, signal: io.interrupted };
  const why = await connectWebhook(at, wanted).then(
    ({ check: { result, text } }) => (result === 'accepted' ? undefined : text),
    (error: unknown) => failureOf(error).error.message,
  );
  if (why === undefined) return;
  const text = `The bridge could not be registered again: ${why}. Jobs wake late until \`sandflow webhooks connect\` succeeds.`;
  io.stderr.write(`${oneLine(text)}\n`);
}
