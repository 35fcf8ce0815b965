/** Runs the commands that come after the work: those of proven work, and those of every end. Each at most once. */
import type { CheckRun } from '../../../src/protocol/job/job-result.js';
import { headOf } from '../../../src/protocol/stored-text.js';
import type { JobTermination } from '../../shared/job-termination.js';
import { sandboxFailed } from '../../shared/job-termination.js';
import { hasFailed } from '../checks/judge-round.js';
import { failureText, runTold } from '../checks/told-command.js';
import type { JobState } from '../job-state.js';
import { withMarkers } from '../run-commands.js';
import { wasReset } from '../was-reset.js';

/** How much of the outputs of one command the result keeps, in bytes. */
const outputBytes = 1_000;

/**
 * Runs the commands that follow proven work, except those that an earlier run has recorded, until one fails.
 * @returns why the job ends without success; null if every command exited with 0
 */
export async function runAfter(job: JobState, sandboxId: string): Promise<JobTermination | null> {
  const { after = [] } = job.input;
  if (after.length === 0) return null;
  job.carried.after ??= [];
  const runs = job.carried.after;
  job.enter('running_commands');
  job.seenAtEnd = undefined;
  await withMarkers(job, sandboxId, async () => {
    for (const [index, command] of after.entries()) {
      if (runs.some(hasFailed)) return;
      const mayHaveRun = job.carried.isFound || wasReset(job.carried);
      const options = { step: `after ${index + 1}`, outputBytes, mayHaveRun, ifSent: 0 };
      if (index >= runs.length) runs.push(await runTold(job, sandboxId, command, options));
    }
  });
  const failed = runs.find(hasFailed);
  if (failed === undefined) return null;
  const said = failed.output === '' ? '.' : `: ${failed.output}`;
  return sandboxFailed('after_failed', `${failureText(failed, 'command')}${said}`);
}

/**
 * Runs the commands of every end, whatever the outcome and whether or not one fails. The caller bounds the time.
 * @param ms the time that all of them have together
 */
export async function runAlways(job: JobState, sandboxId: string, ms: number): Promise<void> {
  const { always = [] } = job.input;
  if (always.length === 0 || !job.carried.isObtained) return;
  const runs: CheckRun[] = [];
  job.always = runs;
  const endsAtMs = Date.now() + ms;
  job.seenAtEnd = undefined;
  const cutShort = job.carried.command;
  job.carried.command = null;
  try {
    await withMarkers(job, sandboxId, async () => {
      for (const [index, command] of always.entries()) {
        const timeoutSeconds = Math.max(1, Math.ceil((endsAtMs - Date.now()) / 1_000));
        const options = { step: `always ${index + 1}`, outputBytes, timeoutSeconds, mayHaveRun: false };
        // One that the end of the time cuts off is told too.
        const place = runs.push({ command: headOf(command, 500), exitCode: null, output: '', durationMs: 0 }) - 1;
        runs[place] = await runTold(job, sandboxId, command, options);
      }
    });
  } finally {
    // It may still run, which the result says.
    job.carried.command ??= cutShort;
  }
}
