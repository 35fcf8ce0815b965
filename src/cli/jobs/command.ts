import type { AddCommand } from '../command.js';
import { requireIdFirst } from '../connect/require-id.js';
import {
  declareCancel,
  declareContinue,
  declareJobs,
  declareList,
  declareLogs,
  declarePrompt,
  declareRerun,
  declareResolve,
  declareShow,
  declareWatch,
} from './options.js';

/** `sandflow jobs`: lists jobs and acts on one. */
export const addJobs: AddCommand = (parent, context) => {
  const jobs = declareJobs(parent).summary('List, show, watch, rerun, cancel and resolve jobs');
  requireIdFirst(jobs);
  declareList(jobs).action(async (options) => (await import('./list-jobs.js')).printJobs(options, context));
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
  declareWatch(jobs).action(async (jobId, options) => {
    context.jobId = jobId;
    const { watchAgain } = await import('./act-on-job.js');
    context.exitCode = await watchAgain(jobId, options, context);
  });
  declareRerun(jobs).action(async (jobId, options) => {
    context.undone = 'started no job';
    const { readRerun } = await import('./read-rerun.js');
    const read = await readRerun(jobId, options, context.io);
    const { rerunEarlier } = await import('./start-from-earlier.js');
    context.exitCode = await rerunEarlier(jobId, read, options, context);
  });
  declarePrompt(jobs).action(async (jobId, text, options) =>
    (await import('./act-on-job.js')).sendPrompt(jobId, text, options, context),
  );
  declareCancel(jobs).action(async (jobId, options) => {
    const { cancelAndReport } = await import('./act-on-job.js');
    context.exitCode = await cancelAndReport(jobId, options, context);
  });
  declareResolve(jobs).action(async (jobId, options) =>
    (await import('./act-on-job.js')).resolveCall(jobId, options, context),
  );
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
