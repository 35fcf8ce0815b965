import type { AddCommand } from '../../command.js';

interface Options {
  readonly open?: boolean;
  readonly limit: string;
  readonly json?: boolean;
}

export const addFanoutList: AddCommand = (parent, context) => {
  parent
    .command('list')
    .description('List the batches of this deployment, newest first')
    .option('--open', 'only running batches')
    .option('--limit <count>', 'maximum number of batches to list', '50')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: Options) => {
      const { io } = context;
      const { parseCount } = await import('../options.js');
      const limit = parseCount(options.limit, '--limit', 1, 10_000);
      const { withPlatform } = await import('../../connect/with-platform.js');
      const { listFanouts } = await import('../../../temporal/fanouts/index.js');
      const { printJson } = await import('../../output/json.js');
      const { formatTable } = await import('../../output/table.js');
      const { oneLine } = await import('../../output/terminal-safe.js');
      const { cellOf, sayUnreadable } = await import('../../output/unreadable-rows.js');
      const batches = await withPlatform(context, {}, ({ temporal, config }) =>
        listFanouts(temporal, { deployment: config.deployment, open: options.open, limit }),
      );
      if (options.json) return printJson(io.stdout, { batches, error: null });
      if (batches.length === 0) return void io.stderr.write('No batches found.\n');
      const rows = batches.map(({ batchId, status, startedAt, title, unreadable }) => [
        batchId,
        status,
        startedAt,
        oneLine(cellOf(title, unreadable)),
      ]);
      io.stdout.write(formatTable(['BATCH', 'STATUS', 'STARTED', 'TITLE'], rows));
      sayUnreadable(batches, io);
    });
};
