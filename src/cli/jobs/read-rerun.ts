/** Checks the command lines of `jobs rerun` and `continue`. Loads no heavy module, so that a mistake is answered at once. */
import { jobIdProblem } from '../../addresses/addresses.js';
import type { CliIo } from '../io.js';
import { checkGetPlaces } from '../run/free-places.js';
import { generateJobId } from '../run/job-input.js';
import { readOnePrompt } from '../run/read-prompts.js';
import { parseGetPairs } from '../settings/file-pairs.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { requireWatch, UsageError } from '../usage-error.js';
import type { ContinueJobOptions, RerunJobOptions } from './options.js';

export type RerunCommand = Readonly<Awaited<ReturnType<typeof readRerun>>>;
export type ContinueCommand = Readonly<Awaited<ReturnType<typeof readContinue>>>;

/**
 * @returns `taken`: the error if this starts a new job, whose files would take the place of others
 * @throws UsageError; SandflowError `bad_configuration`
 */
export async function readRerun(
  jobId: string,
  options: Pick<RerunJobOptions, 'id' | 'detach' | 'watchDeadline' | 'get'>,
  io: CliIo,
) {
  requireWatch(options);
  const watchDeadlineMs = parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  const taken = await checkGetPlaces(parseGetPairs(options.get), options, io.cwd);
  const newJobId = options.id ?? generateJobId();
  const problem = jobIdProblem((await io.readConfig()).deployment, newJobId);
  if (problem) throw new UsageError(`--id: the job id ${problem}.`);
  if (newJobId === jobId) throw new UsageError(`--id: the new job needs another id than the earlier one, ${jobId}.`);
  return { newJobId, watchDeadlineMs, taken };
}

/** @throws as `readRerun`, and for a prompt as `readPrompts` */
export async function readContinue(jobId: string, given: string | undefined, options: ContinueJobOptions, io: CliIo) {
  const read = await readRerun(jobId, options, io);
  return { ...read, prompt: await readOnePrompt(given, options, io) };
}
