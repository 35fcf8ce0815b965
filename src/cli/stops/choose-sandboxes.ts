/** Selects the sandboxes of `stop --all` and asks for confirmation. */
import type { Sandbox } from '../../contract/records/sandbox-records.js';
import { isOpenStop } from '../../contract/workflow-safe/states.js';
import type { WorkInSandbox } from '../../workflow-client/sandbox-work.js';
import { type AskingIo, confirmed } from '../confirmed.js';
import type { ServiceReads } from '../connect/ask-service.js';
import { oneLine } from '../output/terminal-safe.js';
import { nameMatches } from '../sandboxes/list-sandboxes.js';
import type { StopCommandOptions } from './options.js';

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

/** The jobs and batches that work in a sandbox, by its id; `unknown` if nobody answers. */
export type WorkBySandbox = ReadonlyMap<string, readonly WorkInSandbox[] | 'unknown'>;

/**
 * In a terminal, lists the selection and asks for confirmation. Elsewhere, requires `--yes`.
 * @param workInEach finds the jobs that work in the sandboxes, for marks in the list
 * @returns the ids of the selection; empty if there is nothing to stop
 * @throws UsageError if the stop is not confirmed
 */
export async function chooseSandboxes(
  reads: Pick<ServiceReads, 'listAllSandboxes'>,
  options: Pick<StopCommandOptions, 'name' | 'yes'>,
  io: AskingIo,
  workInEach: (chosen: readonly Sandbox[]) => Promise<WorkBySandbox>,
): Promise<string[]> {
  const all = await reads.listAllSandboxes({}, { signal: io.interrupted });
  const chosen = stoppable(all, options.name);
  const ids = chosen.map(({ id }) => id);
  if (options.yes || ids.length === 0) return ids;
  const work = await workInEach(chosen);
  for (const { id, name, state } of chosen) {
    const works = work.get(id);
    const mark = works && works !== 'unknown' ? `  (${worksText(works)} in it)` : '';
    io.stderr.write(`  ${oneLine(id)}  ${oneLine(state).padEnd(12)}  ${oneLine(`${name ?? ''}${mark}`)}\n`);
  }
  await confirm(ids.length, io);
  return ids;
}

/**
 * Before named sandboxes are stopped under jobs that work in them, asks for confirmation, or requires `--yes`.
 * @param count of the sandboxes that are stopped
 * @throws UsageError if the stop is not confirmed
 */
export async function confirmWork(work: WorkBySandbox, count: number, io: AskingIo): Promise<void> {
  if (work.size === 0) return;
  for (const [sandboxId, found] of work) {
    const text = `${worksText(found)} in ${sandboxId}.${insteadText(found)}`;
    io.stderr.write(`${oneLine(text)}\n`);
  }
  await confirm(count, io);
}

type Work = readonly WorkInSandbox[] | 'unknown';

function worksText(work: Work): string {
  if (work === 'unknown') return 'Nobody answers whether a job works';
  const ids = work.map(({ id }) => id);
  return ids.length === 1 ? `${ids[0]} works` : `${ids.join(', ')} work`;
}

function insteadText(work: Work): string {
  if (work === 'unknown') return '';
  const commands = work.map(({ id, isBatch }) => `\`sandflow ${isBatch ? 'fanout' : 'jobs'} cancel ${id}\``);
  return ` To end it and keep its files, use ${commands.join(' and ')} instead.`;
}

function confirm(count: number, io: AskingIo): Promise<void> {
  const these = count === 1 ? 'this sandbox' : `these ${count} sandboxes`;
  const told = { unasked: `This stops ${these}. Confirm with --yes.`, refused: 'Nothing was stopped.' };
  return confirmed(`Stop ${these}?`, told, io);
}
