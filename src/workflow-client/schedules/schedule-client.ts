/** Schedules: one Temporal Schedule for each, which starts the workflow `scheduledRun`. */

import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
  type ScheduleUpdateOptions,
} from '@temporalio/client';
import { z } from 'zod';
import { scheduleId, scheduleNameProblem, schedulePrefix } from '../../addresses/schedule-addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { defaultCatchUpMs, longestCatchUpMs, longestJitterMs } from '../../protocol/limits.js';
import { workflowTypes } from '../../protocol/messages.js';
import type { ScheduledRunInput, ScheduledRunMemo, ScheduledWork, ScheduleTimes } from '../../protocol/schedule.js';
import { type Overlap, scheduleOverlaps } from '../../protocol/schedule-overlaps.js';
import { requireOptions } from '../../settings/required-options.js';
import { requireClient } from '../../temporal/own-copy.js';
import { lenientClient } from '../../temporal/readable-memos.js';
import { payloadBytes } from '../../texts/length.js';
import { isTimeZone } from '../../texts/time-zone.js';
import { checkDeployment } from '../cleanups/cleanup-input.js';
import { parseWith } from '../parse-with.js';
import { requireSearchAttributes } from '../search-attributes.js';
import { cronProblem } from './cron-problem.js';

/** Identifies a schedule. */
export interface ScheduleAddress {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Name of the schedule, unique within the deployment: lower-case letters and digits, with dashes between them. */
  readonly name: string;
}

/** Options of `putSchedule`. */
export interface PutScheduleOptions extends ScheduleAddress {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /** What it runs: the result of `scheduledJob`, `scheduledBatch` or `scheduledCleanup`. */
  readonly work: ScheduledWork;
  /** When it runs. */
  readonly times: ScheduleTimes;
  /** What happens if a run is due while the last one has not ended. Default: `skip`. */
  readonly overlap?: Overlap;
  /** Maximum random delay of each run, in ms. Default: 0. */
  readonly jitterMs?: number;
  /** A run that Temporal missed, because it was down, is still started within this time, in ms. Default: a day. */
  readonly catchUpMs?: number;
  /** The words of a command that describes the work, for lists. Default: none. */
  readonly command?: readonly string[];
  /** If there is a schedule with this name: `refuse`, or `replace` its content. Default: `refuse`. */
  readonly ifExists?: 'refuse' | 'replace';
}

/** What `putSchedule` did. `unchanged`: the schedule was there with the same content. */
export type PutSchedule = 'created' | 'replaced' | 'unchanged';

/**
 * Creates a schedule, or replaces its content. A paused schedule stays paused, and runs that have started continue. Safe
 * to repeat with `ifExists: 'replace'`.
 * @throws SandflowError `bad_schedule` and `bad_search_attributes` before anything is changed; `schedule_exists`
 * @example
 * const prompts = [{ prompt: 'Update the dependencies.' }];
 * const work = await scheduledJob(client, { deployment, prompts }, { schedule: 'nightly', results });
 * const times = { cron: '30 2 * * 1-5', zone: 'Europe/Vienna' };
 * await putSchedule(client, { deployment, name: 'nightly', taskQueue, work, times });
 */
export async function putSchedule(client: Client, options: PutScheduleOptions): Promise<PutSchedule> {
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text', work: 'an object', times: 'an object' });
  checkSchedule(options);
  if (options.work.kind !== 'cleanup' && options.work.searchAttributes) await requireSearchAttributes(client);
  const { deployment, name, ifExists = 'refuse' } = options;
  const wanted = temporalSchedule(options);
  try {
    await client.schedule.create({ ...wanted, scheduleId: scheduleId(deployment, name) });
    return 'created';
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw explained(error, name);
    if (ifExists === 'refuse') {
      const message = `There is already a schedule "${name}". Replace it with --replace, or choose another name.`;
      throw new SandflowError('schedule_exists', message, { cause: error });
    }
    return replace(client, options, wanted);
  }
}

/** The old content may be encrypted with a lost key. It need not be readable: everything but the state is replaced. */
function replace(client: Client, schedule: ScheduleAddress, wanted: ScheduleContent): Promise<PutSchedule> {
  return onSchedule(client, schedule, async (handle) => {
    if (contentOf(await handle.describe()) === contentOf(wanted)) return 'unchanged';
    await handle.update(({ state }): ScheduleUpdateOptions => ({ ...wanted, state }));
    return 'replaced';
  });
}

type ScheduleContent = Omit<ScheduleOptions, 'scheduleId'>;

function temporalSchedule({ work, times, ...options }: PutScheduleOptions): ScheduleContent {
  const { deployment, name, taskQueue, overlap = 'skip', jitterMs = 0, command = [] } = options;
  const { catchUpMs = defaultCatchUpMs } = options;
  const input: ScheduledRunInput = { deployment, schedule: name, work, times, command };
  const memo: ScheduledRunMemo = { schedule: name, id: null, outcome: null };
  return {
    spec: { cronExpressions: [times.cron], timezone: times.zone, jitter: jitterMs },
    action: {
      type: 'startWorkflow',
      workflowType: workflowTypes.scheduledRun,
      // Temporal appends the time of the run to this id.
      workflowId: scheduleId(deployment, name),
      taskQueue,
      args: [input],
      memo: { ...memo },
      staticSummary: `schedule ${name}`,
    },
    policies: { overlap: overlaps[overlap], catchupWindow: catchUpMs },
  };
}

/** `terminate` is missing on purpose: a terminated run would leave machines that go on costing. */
export const overlaps = {
  skip: 'SKIP',
  'buffer-one': 'BUFFER_ONE',
  'buffer-all': 'BUFFER_ALL',
  'cancel-other': 'CANCEL_OTHER',
  'allow-all': 'ALLOW_ALL',
} as const satisfies Record<Overlap, string>;

/** The input holds the cron expression, which Temporal does not keep as it was written. */
function contentOf({ spec, action, policies }: ScheduleContent | ScheduleDescription): string {
  return JSON.stringify([spec.jitter ?? 0, action.args, action.taskQueue, policies?.overlap, policies?.catchupWindow]);
}

/** A change to a schedule. */
export type ScheduleChange = 'pause' | 'resume' | 'remove';

/**
 * Pauses, resumes or removes a schedule. Runs that have started continue. Safe to repeat, except a removal.
 * @throws SandflowError `schedule_not_found`
 * @example
 * await changeSchedule(client, 'pause', { deployment, name: 'nightly' });
 */
export async function changeSchedule(client: Client, change: ScheduleChange, schedule: ScheduleAddress): Promise<void> {
  await onSchedule(client, schedule, changes[change]);
}

const changes: Readonly<Record<ScheduleChange, (handle: ScheduleHandle) => Promise<unknown>>> = {
  pause: (handle) => handle.pause('paused with sandflow'),
  resume: (handle) => handle.unpause('resumed with sandflow'),
  remove: (handle) => handle.delete(),
};

/** Calls Temporal for a schedule. @throws SandflowError `schedule_not_found` */
export async function onSchedule<T>(
  client: Client,
  { deployment, name }: ScheduleAddress,
  act: (handle: ScheduleHandle) => Promise<T>,
): Promise<T> {
  requireClient(client);
  checkDeployment(deployment);
  try {
    return await act(lenientClient(client).schedule.getHandle(scheduleId(deployment, name)));
  } catch (error) {
    throw explained(error, name);
  }
}

/**
 * The names of a deployment's schedules, sorted. Visibility lags: a new schedule may be missing for a moment.
 * @example
 * const names = await scheduleNames(client, 'default');
 */
export async function scheduleNames(client: Client, deployment: string): Promise<string[]> {
  requireClient(client);
  checkDeployment(deployment);
  const prefix = schedulePrefix(deployment);
  const names: string[] = [];
  for await (const found of lenientClient(client).schedule.list()) {
    if (found.scheduleId.startsWith(prefix)) names.push(found.scheduleId.slice(prefix.length));
  }
  return names.sort();
}

function explained(error: unknown, name: string): unknown {
  if (error instanceof ScheduleNotFoundError) {
    const message = `There is no schedule "${name}". List them with: sandflow schedule list`;
    return new SandflowError('schedule_not_found', message, { cause: error });
  }
  // Temporal's client turns a refusal of the request into such an error, with the words of the server.
  return error instanceof TypeError ? bad(name, `Temporal refuses it: ${error.message}`, error) : error;
}

function bad(name: string, why: string, cause?: unknown): SandflowError {
  return new SandflowError('bad_schedule', `The schedule "${name}" cannot be used: ${why}.`, { cause });
}

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
function checkSchedule(options: { readonly deployment: string; readonly name: string; readonly work: unknown }): void {
  const { deployment, name, work } = options;
  checkDeployment(deployment);
  const refuse = (why: string) => bad(name.slice(0, 80), why);
  const problem = scheduleNameProblem(deployment, name);
  if (problem) throw refuse(`the name ${problem}`);
  parseWith(optionsSchema, options, refuse);
  const bytes = payloadBytes(work);
  if (bytes > maxWorkBytes)
    throw refuse(`what it runs has ${bytes} bytes, but at most ${maxWorkBytes} are allowed. Put long texts into files`);
}
