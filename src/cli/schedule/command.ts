import type { AddCommand } from '../command.js';
import { declareAdd, declareChange, declareList, declareRunNow, declareSchedules, declareShow } from './options.js';

/** `sandflow schedule`: jobs, batches and cleanups by a timetable. */
export const addSchedules: AddCommand = (parent, context) => {
  const schedules = declareSchedules(parent);
  declareAdd(schedules).action(async (name, file, options) => {
    context.undone = 'added no schedule';
    await (await import('./add-schedule.js')).addSchedule(name, file, options, context);
  });
  declareList(schedules).action(async (options) =>
    (await import('./show-schedule.js')).printSchedules(options, context),
  );
  declareShow(schedules).action(async (name, options) =>
    (await import('./show-schedule.js')).showSchedule(name, options, context),
  );
  declareRunNow(schedules).action(async (name, options) => {
    context.exitCode = await (await import('./change-schedule.js')).runNow(name, options, context);
  });
  for (const change of ['pause', 'resume', 'remove'] as const) {
    declareChange(schedules, change).action(async (name, options) =>
      (await import('./change-schedule.js')).changeOne(change, { ...options, name }, context),
    );
  }
};
