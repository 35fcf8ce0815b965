import type { AddCommand } from '../command.js';
import { parseDurationMs } from '../duration.js';
import { UsageError } from '../usage-error.js';

interface ClockOptions {
  readonly hold?: boolean;
  readonly release?: boolean;
  readonly advance?: string;
  readonly json?: boolean;
}

export const addLocalClock: AddCommand = (parent, context) => {
  parent
    .command('clock')
    .description('Read, hold, release or advance the clock of a running local service')
    .option('--hold', 'stop the clock')
    .option('--release', 'let the clock run again')
    .option('--advance <duration>', 'move the clock forward, like 15d; everything due on the way happens in order')
    .option('--json', 'print one JSON object on stdout')
    .action(async ({ hold, release, advance, json }: ClockOptions) => {
      const { io } = context;
      if (hold && release) throw new UsageError('Give --hold or --release, not both.');
      const advanceSeconds = advance === undefined ? undefined : parseDurationMs(advance, '--advance') / 1_000;
      const held = hold ? true : release ? false : undefined;
      const { z } = await import('zod');
      const { withLocalAdmin } = await import('../connect/local-admin.js');
      const { printJson } = await import('../output/json.js');
      const body = JSON.stringify({ held, advanceSeconds });
      const changes = held !== undefined || advanceSeconds !== undefined;
      const answer = await withLocalAdmin(context, (admin) =>
        changes ? admin.call('POST', '/clock', { body, contentType: 'application/json' }) : admin.call('GET', '/clock'),
      );
      const clock = z.object({ now: z.string(), held: z.boolean() }).parse(answer.clock);
      if (json) return printJson(io.stdout, { clock, error: null });
      io.stdout.write(`${clock.now}${clock.held ? ' (held)' : ''}\n`);
    });
};
