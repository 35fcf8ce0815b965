/** Checks the command line of `jobs rerun`. Loads no heavy module, so that a mistake is answered at once. */
import { jobIdProblem } from '../../contract/addresses.js';
import type { CliIo } from '../io.js';
import { parseGetPairs, requireGetPlaces } from '../run/file-pairs.js';
import { generateJobId } from '../run/job-input.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { requireWatch, UsageError } from '../usage-error.js';
import type { RerunJobOptions } from './options.js';

/** What the command line says. */
export interface RerunCommand {
  readonly newJobId: string;
  readonly watchDeadlineMs: number | undefined;
}

/** @throws UsageError; SandflowError `bad_configuration` */
export async function readRerun(jobId: string, options: RerunJobOptions, io: CliIo): Promise<RerunCommand> {
  requireWatch(options);
  const watchDeadlineMs = parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  await requireGetPlaces(parseGetPairs(options.get), io.cwd);
  const newJobId = options.id ?? generateJobId();
  const problem = jobIdProblem((await io.readConfig()).deployment, newJobId);
  if (problem) throw new UsageError(`--id: ${problem}.`);
  if (newJobId === jobId) throw new UsageError(`--id: the new job needs another id than the earlier one, ${jobId}.`);
  return { newJobId, watchDeadlineMs };
}
