import { type AddCommand, lazily } from '../command.js';
import { declareAdd, declareChange, declareList, declareRunNow, declareSchedules, declareShow } from './options.js';

/** `sandflow schedule`: jobs, batches and cleanups by a timetable. */
export const addSchedules: AddCommand = (parent, context) => {
  const schedules = declareSchedules(parent);
  declareAdd(schedules).action(async (name, file, options) => {
    context.undone = 'added no schedule';
    await (await import('./add-schedule.js')).addSchedule(name, file, options, context);
  });
  declareList(schedules).action(lazily(context, async () => (await import('./show-schedule.js')).printSchedules));
  declareShow(schedules).action(lazily(context, async () => (await import('./show-schedule.js')).showSchedule));
  declareRunNow(schedules).action(lazily(context, async () => (await import('./change-schedule.js')).runNow));
  for (const change of ['pause', 'resume', 'remove'] as const) {
    declareChange(schedules, change).action(async (name, options) =>
      (await import('./change-schedule.js')).changeOne(change, { ...options, name }, context),
    );
  }
};
