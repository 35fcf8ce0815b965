/** `sandflow local seed`. */
import { resolve } from 'node:path';
import { z } from 'zod';
import type { CommandContext } from '../command.js';
import { readAnswer, withLocalAdmin } from '../connect/local-admin.js';
import { printJson } from '../output/json.js';
import { createScreenLines, textLine } from '../output/screen-lines.js';
import { oneLine } from '../output/terminal-safe.js';
import { readTextFile } from '../text-file.js';
import { plural } from '../units.js';
import { UsageError } from '../usage-error.js';

const snapshotsSchema = z
  .array(z.object({ name: z.string().nullable() }))
  .optional()
  .default([]);

const seedProgressSchema = z.object({ made: z.number(), of: z.number() });

export async function seedState(
  file: string,
  { json }: { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  const path = resolve(io.cwd, file);
  const body = await readTextFile(path, path);
  requireJsonObject(body, path);
  const status = createScreenLines(io.stderr, { enabled: true });
  let progress = '';
  const onProgress = (line: unknown) => {
    const { made, of } = readAnswer(seedProgressSchema, line);
    const isFirst = progress === '';
    progress = `Creating sandboxes: ${made} of ${of}`;
    // It redraws itself every second.
    if (isFirst) status.show((width) => [textLine(progress, width)]);
  };
  const { accounts, environments, sandboxes, snapshots, webhooks } = await withLocalAdmin(context, (admin) =>
    admin.follow('/seed', body, onProgress),
  ).finally(() => status.close());
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
