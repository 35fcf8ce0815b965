import type { AddCommand } from '../command.js';
import { requireIdFirst } from '../connect/require-id.js';
import {
  declareAttributes,
  declareCancel,
  declareContinue,
  declareJobs,
  declareList,
  declareLogs,
  declarePrompt,
  declareRerun,
  declareResolve,
  declareShow,
  declareTrace,
  declareWatch,
} from './options.js';

/** `sandflow jobs`: lists jobs and acts on one. */
export const addJobs: AddCommand = (parent, context) => {
  const jobs = declareJobs(parent).summary('List, show, watch, rerun, cancel and resolve jobs');
  requireIdFirst(jobs);
  declareList(jobs).action(async (options) => (await import('./list-jobs.js')).printJobs(options, context));
  declareAttributes(jobs).action(async ({ json }) => (await import('./list-jobs.js')).addAttributes({ json }, context));
  declareShow(jobs).action(async (jobId, options) => {
    context.jobId = jobId;
    const { showJob } = await import('../run/show-job.js');
    context.exitCode = await showJob(jobId, options, context);
  });
  declareLogs(jobs).action(async (jobId, options) => {
    context.jobId = jobId;
    const { showLogs } = await import('./show-logs.js');
    context.exitCode = await showLogs(jobId, options, context);
  });
  declareTrace(jobs).action(async (jobId, options) => {
    context.jobId = jobId;
    const { showTrace } = await import('./show-trace.js');
    await showTrace(jobId, options, context);
  });
  declareWatch(jobs).action(async (jobId, options) => {
    context.jobId = jobId;
    const { watchAgain } = await import('./act-on-job.js');
    context.exitCode = await watchAgain(jobId, options, context);
  });
  declareRerun(jobs).action(async (given, options) => {
    context.undone = 'started no job';
    const { oneJob, rerunMany } = await import('./act-on-many.js');
    const ofOne = { '--id': options.id, '--get': options.get, '--watch-deadline': options.watchDeadline };
    const jobId = oneJob(given, options, ofOne);
    if (jobId === undefined) {
      context.exitCode = await rerunMany(options, context);
      return;
    }
    const { readRerun } = await import('./read-rerun.js');
    const read = await readRerun(jobId, options, context.io);
    const { rerunEarlier } = await import('./start-from-earlier.js');
    context.exitCode = await rerunEarlier(jobId, read, options, context);
  });
  declarePrompt(jobs).action(async (jobId, text, options) =>
    (await import('./act-on-job.js')).sendPrompt(jobId, text, options, context),
  );
  declareCancel(jobs).action(async (given, options) => {
    const { cancelMany, oneJob } = await import('./act-on-many.js');
    const { cancelAndReport } = await import('./act-on-job.js');
    const jobId = oneJob(given, options, { '--wait': options.wait });
    const act = jobId === undefined ? cancelMany(options, context) : cancelAndReport(jobId, options, context);
    context.exitCode = await act;
  });
  declareResolve(jobs).action(async (given, options) => {
    const { oneJob, resolveMany } = await import('./act-on-many.js');
    const { resolutionOf, resolveCall } = await import('./act-on-job.js');
    const { sandbox, conversation, promptId, updateId } = options;
    const ofCall = { '--sandbox': sandbox, '--conversation': conversation, '--prompt-id': promptId };
    const jobId = oneJob(given, options, { ...ofCall, '--update-id': updateId });
    const resolution = resolutionOf(options);
    if (jobId === undefined) context.exitCode = await resolveMany(resolution, options, context);
    else await resolveCall(jobId, resolution, options, context);
  });
};

/** `sandflow continue`: a follow-up to a job that has ended. */
export const addContinue: AddCommand = (parent, context) => {
  const command = declareContinue(parent).summary('Send a follow-up to a job that has ended, as a new job');
  requireIdFirst(command);
  command.action(async (jobId, given, options) => {
    context.undone = 'started no job';
    const { readContinue } = await import('./read-rerun.js');
    const read = await readContinue(jobId, given, options, context.io);
    const { continueEarlier } = await import('./start-from-earlier.js');
    context.exitCode = await continueEarlier(jobId, read, options, context);
  });
};
