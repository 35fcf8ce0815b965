import type { AddCommand } from '../command.js';
import { changes, declareAdd, declareChange, declareList, declareSchedules, declareShow } from './options.js';

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
  for (const change of Object.keys(changes) as (keyof typeof changes)[]) {
    declareChange(schedules, change).action(async (name, options) =>
      (await import('./change-schedule.js')).changeOne(change, { ...options, name }, context),
    );
  }
};
