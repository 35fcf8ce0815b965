/** The lines about notifications that a stack has not delivered, for `sandflow status` and `sandflow down`. */
import { jobIdOfWorkflow } from '../../addresses/addresses.js';
import type { StackStatus } from '../../supervisor/control-protocol.js';
import { oneLine } from '../output/terminal-safe.js';
import { plural } from '../units.js';

/** One line for each notification. The server keeps them while no stack runs, and gives them up at a fixed time. */
export function undeliveredLines(
  { undelivered, undeliveredCount }: Pick<StackStatus, 'undelivered' | 'undeliveredCount'>,
  deployment: string,
): string[] {
  const lines = undelivered.map(({ workflowId, event, target, since, until, lastError }) => {
    const of = jobIdOfWorkflow(deployment, workflowId) ?? workflowId;
    const what = `the notification${event === null ? '' : ` "${event}"`} of ${of}${target === null ? '' : ` to ${target}`}`;
    const why = lastError === null ? '' : `: ${lastError.replace(/\.$/, '')}`;
    const end = until === null ? '' : `, and is given up at ${until}`;
    return oneLine(`${what}, since ${since}${why}. It is repeated while a stack runs${end}.`);
  });
  const more = (undeliveredCount ?? 0) - lines.length;
  return more > 0 ? [...lines, plural(more, 'more notification')] : lines;
}
