import type { AddCommand } from '../command.js';
import { addJobsCancel } from './cancel.js';
import { addJobsList } from './list.js';
import { addJobsPrompt } from './prompt.js';
import { addJobsResolve } from './resolve.js';
import { addJobsShow } from './show.js';
import { addJobsWatch } from './watch.js';

/** `sandflow jobs`: lists jobs and acts on one. */
export const addJobs: AddCommand = (parent, context) => {
  const jobs = parent.command('jobs').description('List, show, watch, prompt, cancel and resolve jobs');
  for (const add of [addJobsList, addJobsShow, addJobsWatch, addJobsPrompt, addJobsCancel, addJobsResolve]) {
    add(jobs, context);
  }
};
