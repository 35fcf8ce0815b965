import type { AddCommand } from '../command.js';
import { addJobsCancel } from './jobs-cancel.js';
import { addJobsList } from './jobs-list.js';
import { addJobsPrompt } from './jobs-prompt.js';
import { addJobsResolve } from './jobs-resolve.js';
import { addJobsShow } from './jobs-show.js';
import { addJobsWatch } from './jobs-watch.js';

/** `sandflow jobs`: what there is, and what can be done with it. */
export const addJobs: AddCommand = (parent, context) => {
  const jobs = parent.command('jobs').description('List, show, watch, prompt, cancel and resolve jobs');
  for (const add of [addJobsList, addJobsShow, addJobsWatch, addJobsPrompt, addJobsCancel, addJobsResolve]) {
    add(jobs, context);
  }
};
