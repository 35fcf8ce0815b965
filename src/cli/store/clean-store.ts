/** `sandflow store clean`: removes results of jobs and batches that Temporal has forgotten. */
import { removalText } from '../../protocol/night-message.js';
import type { ResultFolder } from '../../retention/forgotten.js';
import type { CommandContext } from '../command.js';
import { confirmed } from '../confirmed.js';
import { withPlatform } from '../connect/with-platform.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { anyLength, formatBytes, parseCount, parseDurationMs, plural } from '../units.js';
import type { CleanOptions } from './options.js';

/** Shows what it would remove, asks, and says what it did. @returns 1 if something that is due was not removed, 130 after Ctrl-C */
export async function cleanStore(options: CleanOptions, context: CommandContext): Promise<number> {
  const { io } = context;
  const { dryRun, yes, json } = options;
  const olderThanMs = parseDurationMs(options.olderThan, '--older-than', anyLength);
  const maxFolders = parseCount(options.max, '--max', 1, 10_000);
  context.undone = 'removed nothing';
  const line = ({ folder, objects, bytes }: ResultFolder) =>
    `${folder}  ${plural(objects, 'object')}, ${formatBytes(bytes)}\n`;
  const onDue = async (due: readonly ResultFolder[]) => {
    if (!json) io.stdout.write(due.map(line).join(''));
    const asked = `Remove ${plural(due.length, 'folder')}?`;
    const told = { unasked: `${asked} Confirm with --yes.`, refused: 'Nothing was removed.' };
    if (!dryRun && !yes) await confirmed(asked, told, io);
    context.undone = undefined;
  };
  return withPlatform(context, {}, async ({ temporal, results, config: { deployment } }) => {
    const { removeForgotten } = await import('../../workflow-client/cleanups/forgotten-results.js');
    const limits = { olderThanMs, maxFolders, maxPercent: 100, signal: io.interrupted };
    const done = await removeForgotten(temporal, results, { deployment, dryRun, onDue, ...limits });
    const counts = dryRun ? { ...done, due: done.removed, removed: 0 } : done;
    if (json) printJson(io.stdout, { ...counts, error: null });
    io.stderr.write(`${oneLine(removalText(done, dryRun ? 'due' : 'removed'))} (${formatBytes(done.bytes)}).\n`);
    if (io.interrupted.aborted) return exitCodes.detached;
    return done.problem === null ? exitCodes.done : exitCodes.otherOutcome;
  });
}
