/** Selects the sandboxes of `stop --all` and asks for confirmation. */
import type { Sandbox, StopOperation } from '../../contract/records/sandbox-records.js';
import type { ServiceReads } from '../connect/ask-service.js';
import type { CliIo } from '../io.js';
import { oneLine } from '../output/terminal-safe.js';
import { nameMatches } from '../sandboxes/list-sandboxes.js';
import { UsageError } from '../usage-error.js';
import type { StopCommandOptions } from './options.js';

/** True for a stop that has not ended. */
export function isOpenStop(stop: Pick<StopOperation, 'status'> | null | undefined): boolean {
  return stop?.status === 'pending' || stop?.status === 'failing';
}

/**
 * The sandboxes that match `pattern` and can be stopped. Excludes sandboxes that were never created, and archived
 * sandboxes without an open stop.
 */
export function stoppable(sandboxes: readonly Sandbox[], pattern: string | undefined): Sandbox[] {
  const fits = nameMatches(pattern);
  return sandboxes.filter(
    ({ state, name, stop }) => fits(name) && state !== 'cancelled' && (state !== 'archived' || isOpenStop(stop)),
  );
}

/**
 * In a terminal, lists the selection and asks for confirmation. Elsewhere, requires `--yes`.
 * @returns the ids of the selection; empty if there is nothing to stop
 * @throws UsageError if the stop is not confirmed
 */
export async function chooseSandboxes(
  reads: Pick<ServiceReads, 'listAllSandboxes'>,
  options: Pick<StopCommandOptions, 'name' | 'yes'>,
  { stdin, stderr, interrupted }: Pick<CliIo, 'stdin' | 'stderr' | 'interrupted'>,
): Promise<string[]> {
  const all = await reads.listAllSandboxes({}, { signal: interrupted });
  const chosen = stoppable(all, options.name);
  const ids = chosen.map(({ id }) => id);
  if (options.yes || ids.length === 0) return ids;
  for (const { id, name, state } of chosen) {
    stderr.write(`  ${oneLine(id)}  ${oneLine(state).padEnd(12)}  ${oneLine(name ?? '')}\n`);
  }
  const these = ids.length === 1 ? 'this sandbox' : `these ${ids.length} sandboxes`;
  if (!stderr.isTTY) throw new UsageError(`This stops ${these}. Confirm with --yes.`);
  stderr.write(`Stop ${these}? [y/N] `);
  if (/^y(es)?$/i.test(await firstLine(stdin))) return ids;
  throw new UsageError('Nothing was stopped.');
}

async function firstLine(input: CliIo['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n')) break;
  }
  return (text.split('\n')[0] ?? '').trim();
}
