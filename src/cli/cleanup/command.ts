import type { AddCommand } from '../command.js';
import {
  declareApply,
  declareChange,
  declareCleanup,
  declarePlan,
  declareReport,
  declareRun,
  declareSchedule,
  declareScheduleList,
  declareValidate,
} from './options.js';

/** `sandflow cleanup`: stops and deletes unneeded sandboxes by a policy. */
export const addCleanup: AddCommand = (parent, context) => {
  const cleanup = declareCleanup(parent);
  declarePlan(cleanup).action(async (file, options) => {
    const { runCleanup } = await import('./run-cleanup.js');
    context.exitCode = await runCleanup(file, 'plan', options, context);
  });
  declareRun(cleanup).action(async (file, options) => {
    const { runCleanup } = await import('./run-cleanup.js');
    context.exitCode = await runCleanup(file, 'apply', options, context);
  });
  declareReport(cleanup).action(async (id, options) => {
    const { showReport } = await import('./run-cleanup.js');
    context.exitCode = await showReport(id, options, context);
  });
  declareValidate(cleanup).action(async (file, options) =>
    (await import('./policy-file.js')).validatePolicy(file, options, context),
  );
  addSchedule(cleanup, context);
};

const addSchedule: AddCommand = (parent, context) => {
  const schedule = declareSchedule(parent);
  declareApply(schedule).action(async (file, options) =>
    (await import('./schedules.js')).applySchedule(file, options, context),
  );
  declareScheduleList(schedule).action(async (options) =>
    (await import('./schedules.js')).listSchedules(options, context),
  );
  for (const change of ['pause', 'resume', 'trigger', 'delete'] as const) {
    declareChange(schedule, change).action(async (policyName, options) =>
      (await import('./schedules.js')).changeSchedule(change, { ...options, policyName }, context),
    );
  }
};
