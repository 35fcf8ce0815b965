/** `sandflow local clock`. */
import { z } from 'zod';
import type { CommandContext } from '../command.js';
import { readAnswer, withLocalAdmin } from '../connect/local-admin.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { anyLength, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ClockOptions } from './options.js';

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
