/** Commands that follow the report of a job. */
import { type FollowUp, isPlainId } from '../batch/sections/commands.js';
import type { JobReportData } from './job-data.js';

const filesShown = 3;

export function jobCommands({
  jobId,
  outcome,
  isRunning,
  files,
  left,
  sandboxId,
  stop,
  deletion,
}: JobReportData): FollowUp[] {
  if (!isPlainId(jobId)) return [];
  if (isRunning) {
    return [
      { does: 'Watch it', command: `sandflow jobs watch ${jobId}` },
      { does: 'Send it another prompt', command: `sandflow jobs prompt ${jobId} prompt.md` },
      { does: 'Write this report again', command: `sandflow jobs report ${jobId}` },
      { does: 'Cancel it', command: `sandflow jobs cancel ${jobId}` },
    ];
  }
  const collected = files.filter(
    ({ path, ref }) => ref !== null && /^[\w./-]{1,200}$/.test(path) && !path.startsWith('-'),
  );
  const running = left.flatMap((one) => (one.kind === 'sandbox' && one.sandboxId ? [one.sandboxId] : []));
  const isKept = sandboxId !== null && stop === null && deletion === null;
  return [
    { does: 'Show its result', command: `sandflow jobs show ${jobId}` },
    ...(outcome === 'completed' ? [] : [{ does: 'Run it again', command: `sandflow jobs rerun ${jobId}` }]),
    ...collected.slice(0, filesShown).map(({ path }) => ({
      does: 'Save a file',
      command: `sandflow jobs watch ${jobId} --get ${path}`,
    })),
    ...running.filter(isPlainId).map((id) => ({ does: 'Stop what was left', command: `sandflow stop ${id} --wait` })),
    ...(isKept && isPlainId(sandboxId)
      ? [{ does: 'Show its sandbox', command: `sandflow sandboxes show ${sandboxId}` }]
      : []),
  ];
}
