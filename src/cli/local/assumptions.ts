import type { AddCommand } from '../command.js';

export const addLocalAssumptions: AddCommand = (parent, context) => {
  parent
    .command('assumptions')
    .description('List the assumptions beyond the specification that responses of a running local service relied on')
    .option('--json', 'print one JSON object on stdout')
    .action(async (options: { readonly json?: boolean }) => {
      const { io } = context;
      const { z } = await import('zod');
      const { withLocalAdmin } = await import('../connect/local-admin.js');
      const { printJson } = await import('../output/json.js');
      const { formatTable } = await import('../output/table.js');
      const row = z.object({
        id: z.string(),
        says: z.string().nullable(),
        count: z.number(),
        firstRequestId: z.string(),
      });
      const answer = await withLocalAdmin(context, (admin) => admin.call('GET', '/assumptions'));
      const assumptions = z.array(row).parse(answer.assumptions);
      if (options.json) return printJson(io.stdout, { assumptions, error: null });
      if (assumptions.length === 0) return void io.stderr.write('No response has relied on an assumption yet.\n');
      const rows = assumptions.map(({ id, says, count, firstRequestId }) => [
        id,
        String(count),
        firstRequestId,
        says ?? '',
      ]);
      io.stdout.write(formatTable(['ID', 'TIMES', 'FIRST REQUEST', 'ASSUMED'], rows));
    });
};
