/** Checks a schedule before anything is changed. */

import { z } from 'zod';
import { scheduleNameProblem } from '../../addresses/schedule-addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { longestCatchUpMs, longestJitterMs } from '../../protocol/limits.js';
import { scheduleOverlaps } from '../../protocol/schedule-overlaps.js';
import { payloadBytes } from '../../texts/length.js';
import { isTimeZone } from '../../texts/time-zone.js';
import { checkDeployment } from '../cleanups/cleanup-input.js';
import { parseWith } from '../parse-with.js';
import { cronProblem } from './cron-problem.js';

/** Temporal keeps the input of a schedule in the history of a workflow of its own. */
const maxWorkBytes = 500_000;

const timesSchema = z.object({
  cron: z
    .string()
    .max(200)
    .superRefine((cron, context) => {
      const problem = cronProblem(cron);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    }),
  zone: z
    .string()
    .refine(isTimeZone, 'must be the IANA name of a time zone with its capital letters, such as Europe/Vienna'),
});

const optionsSchema = z.object({
  times: timesSchema,
  overlap: z.enum(scheduleOverlaps).optional(),
  jitterMs: z.number().int().min(0).max(longestJitterMs, 'must be at most a day').optional(),
  catchUpMs: z
    .number()
    .int()
    .min(10_000, 'must be at least 10 s')
    .max(longestCatchUpMs, 'must be at most a year')
    .optional(),
});

/** @throws SandflowError `bad_schedule`, naming every field that is wrong; `bad_configuration` */
export function checkSchedule(options: {
  readonly deployment: string;
  readonly name: string;
  readonly work: unknown;
}): void {
  const { deployment, name, work } = options;
  checkDeployment(deployment);
  const refuse = (why: string) =>
    new SandflowError('bad_schedule', `The schedule "${name.slice(0, 80)}" cannot be used: ${why}.`);
  const problem = scheduleNameProblem(deployment, name);
  if (problem) throw refuse(`the name ${problem}`);
  parseWith(optionsSchema, options, refuse);
  const bytes = payloadBytes(work);
  if (bytes > maxWorkBytes)
    throw refuse(`what it runs has ${bytes} bytes, but at most ${maxWorkBytes} are allowed. Put long texts into files`);
}
