/** `sandflow local assumptions`. */
import { z } from 'zod';
import type { CommandContext } from '../command.js';
import { readAnswer, withLocalAdmin } from '../connect/local-admin.js';
import { printList } from '../output/table.js';

const assumptionsSchema = z.array(
  z.object({ id: z.string(), says: z.string().nullable(), count: z.number(), firstRequestId: z.string() }),
);

export async function listAssumptions({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
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
