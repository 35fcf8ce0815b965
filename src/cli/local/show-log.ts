/** `sandflow local log`: reads the log of a local service in pages. */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { CommandContext } from '../command.js';
import { type LocalAdmin, readAnswer, withLocalAdmin } from '../connect/local-admin.js';
import { jsonText } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';
import type { LocalLogOptions } from './options.js';

const maxLines = 1_000;
const pollIntervalMs = 300;

const entrySchema = z.looseObject({
  at: z.string(),
  method: z.string(),
  path: z.string(),
  status: z.number().nullable(),
  outcome: z.string(),
  code: z.string().nullable(),
  durationMs: z.number(),
  requestId: z.string(),
  sandboxId: z.string().nullable(),
});
type Entry = z.output<typeof entrySchema>;
const pageSchema = z.looseObject({ calls: z.array(entrySchema), next: z.number() });

/** With `follow`, runs until the first Ctrl-C. @throws UsageError */
export async function showLog(options: LocalLogOptions, context: CommandContext): Promise<void> {
  const { io } = context;
  const filter = filterOf(options);
  const lines = Number(options.lines);
  if (!/^\d+$/.test(options.lines) || lines > maxLines) {
    throw new UsageError(`--lines: "${options.lines}" is not a number from 0 to ${maxLines}.`);
  }
  const show = ({ calls }: z.output<typeof pageSchema>): void => {
    for (const call of calls) io.stdout.write(options.json ? `${jsonText(call)}\n` : `${lineOf(call)}\n`);
  };
  await withLocalAdmin(context, async (admin) => {
    const first = await readPage(admin, { ...filter, limit: String(Math.max(1, lines)) });
    if (lines > 0) show(first);
    if (!options.follow) return;
    let after = first.next;
    try {
      for (;;) {
        await delay(pollIntervalMs, undefined, { signal: io.interrupted });
        const page = await readPage(admin, { ...filter, after: String(after) });
        show(page);
        after = page.next;
      }
    } catch (error) {
      // Ctrl-C ends `--follow`.
      if (!io.interrupted.aborted) throw error;
    }
  });
}

function filterOf({ endpoint, status }: LocalLogOptions): Record<string, string> {
  if (status !== undefined && !/^[1-5](?:\d\d|xx)$/.test(status)) {
    throw new UsageError(`--status: "${status}" is not a status like 404, or a class like 4xx.`);
  }
  return { ...(endpoint === undefined ? {} : { endpoint }), ...(status === undefined ? {} : { status }) };
}

async function readPage(admin: LocalAdmin, query: Record<string, string>): Promise<z.output<typeof pageSchema>> {
  return readAnswer(pageSchema, await admin.call('GET', `/log?${new URLSearchParams(query)}`));
}

/** Time, method, path, status, code, duration, request and sandbox; a dash for a missing value. */
function lineOf({ at, method, path, status, outcome, code, durationMs, requestId, sandboxId }: Entry): string {
  const ended = status === null ? outcome : String(status);
  const words = [at, method.padEnd(6), path, ended, code ?? '-', `${durationMs}ms`, requestId, sandboxId ?? '-'];
  return oneLine(words.join(' '));
}
