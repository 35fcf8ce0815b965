/** Checks the command line of `run`. Loads no heavy module, so that a mistake is answered at once. */

import { jobIdProblem } from '../../addresses/addresses.js';
import { wantedOfJob } from '../connect/check-wanted.js';
import type { CliIo } from '../io.js';
import { parseLabelPairs } from '../labels.js';
import { parseGetDiff, parseGetPairs, parsePutPair, withPatch } from '../settings/file-pairs.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { requireWatch, UsageError } from '../usage-error.js';
import { checkGetPlaces } from './free-places.js';
import { generateJobId, jobInputOf } from './job-input.js';
import type { RunOptions } from './options.js';
import { findPutFiles, folderToCollect } from './put-files.js';
import { readBody } from './read-body.js';
import { readPrompts, readScripts } from './read-prompts.js';

export type RunCommand = Readonly<Awaited<ReturnType<typeof readRun>>>;

/**
 * @returns `parts`: all of the job, except the content of its files; `wanted`: what the service must have; `get`: the files
 *   to collect, the patch included; `taken`: the error if this starts a new job, whose files would take the place of others
 * @throws UsageError; SandflowError `bad_configuration`
 */
export async function readRun(given: string[], options: RunOptions, io: CliIo) {
  const { deployment } = await io.readConfig();
  const jobId = options.id ?? generateJobId();
  const problem = jobIdProblem(deployment, jobId);
  if (problem) throw new UsageError(`--id: the job id ${problem}.`);
  if (options.again && options.id === undefined)
    throw new UsageError('--again requires --id. Without --id, every job is new.');
  if (options.reuse && options.id === undefined)
    throw new UsageError('--reuse requires --id. Without --id, every job is new.');
  if (options.reuse && options.again) throw new UsageError('Use --again or --reuse, not both.');
  requireWatch(options);
  const watchDeadlineMs = parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  const gets = parseGetPairs(options.get);
  const diff = parseGetDiff(options.getDiff);
  const get = withPatch(options.get, diff);
  const taken = await checkGetPlaces(parseGetPairs(get), options, io.cwd);
  const labels = parseLabelPairs(options.label);
  const localFiles = await findPutFiles(options.put.map(parsePutPair), io.cwd);
  const collect = gets.map(({ remote }) => remote);
  const folder = folderToCollect(collect, localFiles);
  if (folder !== undefined) throw new UsageError(`--get: ${folder}`);
  const parts = {
    deployment,
    jobId,
    prompts: await readPrompts(given, options, io),
    scripts: await readScripts(options, io.cwd),
    createBody: await readBody(options.createBody, '--create-body', io.cwd),
    promptBody: await readBody(options.promptBody, '--prompt-body', io.cwd),
    collect,
    collectDiff: diff?.remote,
  };
  const wanted = wantedOfJob(jobInputOf(options, { ...parts, put: [] }));
  return { jobId, parts, wanted, get, taken, labels, localFiles, watchDeadlineMs };
}
