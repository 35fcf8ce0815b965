import { type AddCommand, lazily } from '../command.js';
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
  jobs.hook('preAction', (_, { registeredArguments: [job], processedArgs: [jobId] }) => {
    if (job?.required) context.jobId = String(jobId);
  });
  declareList(jobs).action(lazily(context, async () => (await import('./list-jobs.js')).printJobs));
  declareAttributes(jobs).action(lazily(context, async () => (await import('./list-jobs.js')).addAttributes));
  declareShow(jobs).action(lazily(context, async () => (await import('../run/show-job.js')).showJob));
  declareLogs(jobs).action(lazily(context, async () => (await import('./show-logs.js')).showLogs));
  declareTrace(jobs).action(lazily(context, async () => (await import('./show-trace.js')).showTrace));
  declareWatch(jobs).action(lazily(context, async () => (await import('./act-on-job.js')).watchAgain));
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
  declarePrompt(jobs).action(lazily(context, async () => (await import('./act-on-job.js')).sendPrompt));
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
