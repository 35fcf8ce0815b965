/**
 * What Temporal Cloud bills, counted by the server: `docs/cost.md` says so. Gate; costs some 25 CPU seconds.
 *
 * On a busy machine, a call may last long enough for one more heartbeat. So each test counts until the figure is met, which
 * work that costs more or less never does.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shareOfHeartbeatTimeout } from '../../activities/retry/attempt.js';
import { promptFollowerId } from '../../src/addresses/addresses.js';
import { renewAutoStopInMs } from '../../workflows/shared/wait-intervals.js';
import { archived, begin, policyFor, ready } from './cleanup/cleanup-harness.js';
import { type Actions, type CountedStand, createCountedStand } from './counted-actions.js';
import { archivedSandbox, batchOf, chunkOf, fanoutInput, items, run, source } from './fanout/fanout-harness.js';
import { letGo, script, untilGo, withoutPolls } from './workflow-harness.js';
import { workOf } from './workflow-work.js';

/** A safety poll starts a timer, and none comes while the test lasts, however busy the machine is. */
const timing = { ...withoutPolls, safetyPollFirstMs: 200_000 };

/** How long a round of the follower of prompts lasts. */
const roundMs = 30_000;

let stand: CountedStand;
beforeAll(async () => {
  // The call that sends a prompt also follows it to its end, and gives a prompt that goes on away at once.
  const follow = { minIntervalMs: 100, briefFollowMs: 3_000, youngFollowMs: 1 };
  stand = await createCountedStand({ worker: { forksPerSecond: 1_000, follow } });
});
afterAll(() => stand.close());

/** The server also counts changes of memos, which the list of Temporal Cloud does not name. */
const billed = ({ ModifyWorkflowProperties: _, ...actions }: Actions) =>
  Object.values(actions).reduce((sum, count) => sum + count, 0);

/** A number of the table of `docs/cost.md`. */
function documented(what: string): number {
  const rows = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8').split('\n');
  const row = rows.find((line) => line.startsWith(`| ${what} |`)) ?? '';
  return Number(row.split('|')[2]);
}

const shortJob = {
  StartWorkflowExecution: 1,
  ScheduleActivityTask: 4,
  // The intent of the prompt.
  RecordActivityTaskHeartbeat: 1,
  SignalWorkflowExecution: 2,
  StartTimer: 2,
  ModifyWorkflowProperties: 1,
};

it('a short job', async () => {
  const counted = async () => (await stand.actionsOf(async () => (await stand.start({ timing })).result()))[0];
  await expect.poll(counted).toEqual(shortJob);
  expect(documented('a short job')).toBe(billed(shortJob));
});

it('an item of a batch', async () => {
  const size = 3;
  const sandboxId = await archivedSandbox(stand);
  const counted = async () => {
    const input = fanoutInput(source(sandboxId), {
      timing,
      pace: { reportEveryMs: 1_000, checkChunksEveryMs: 600_000 },
      policy: { concurrency: size, end: 'stop' },
    });
    const [actions] = await stand.actionsOf(() => run(stand, input, items(size)));
    const [batch, chunk] = [await workOf(batchOf(stand, input)), await workOf(chunkOf(stand, input, 0))];
    // The watch of the source has a timer.
    const others = {
      StartChildWorkflowExecution: 1,
      StartChildWorkflowExecution_Extra: 1,
      ScheduleActivityTask: batch.activities.length + chunk.activities.length,
      StartTimer: batch.timers + chunk.timers + 1,
    };
    return added(actions, others, -1);
  };
  const { StartWorkflowExecution: _, ModifyWorkflowProperties: __, ...others } = shortJob;
  const item = { ...others, StartChildWorkflowExecution: 1, StartChildWorkflowExecution_Extra: 1 };
  await expect.poll(counted).toMatchObject(added({}, item, size));
  expect(documented('an item of a batch')).toBe(billed(item));
});

it('a long prompt: a timer and an activity for each renewal, and nothing else while it runs', async () => {
  const follower = stand.client.workflow.getHandle(promptFollowerId(stand.taskQueue));
  const counted = async () => {
    const [actions, job] = await stand.actionsOf(async () => {
      const prompts = [{ prompt: script(`${untilGo}; echo done`) }];
      const started = await stand.start({ prompts, timing, ttlSeconds: 4 });
      await expect.poll(async () => renewalsOf(await whileHandedOver(started))).toBeGreaterThan(3);
      await letGo(stand, stand.service.books.prompts().at(-1)?.sandboxId);
      await started.result();
      await follower.result();
      return started;
    });
    const [work, { activities: rounds }] = [await workOf(job), await workOf(follower)];
    const { QueryWorkflow: queries = 0, ...others } = actions;
    const between = await whileHandedOver(job);
    const renewing = between.slice(between.indexOf('updateSandbox'), between.lastIndexOf('updateSandbox'));
    const timersAndActivities = {
      StartTimer: work.timers - shortJob.StartTimer,
      ScheduleActivityTask: work.activities.length - shortJob.ScheduleActivityTask + rounds.length,
    };
    return {
      ...added(others, timersAndActivities, -1),
      rounds: new Set(rounds),
      anHourOfRounds: (3_600_000 / roundMs) * (1 + queries / rounds.length),
      whileRenewing: new Set(renewing),
      timersForEach: renewing.length / renewalsOf(renewing) - 1,
    };
  };
  await expect.poll(counted).toEqual({
    ...shortJob,
    // The hand-over, and the answer of the follower.
    SignalWithStartWorkflowExecution: 1,
    SignalWorkflowExecution: shortJob.SignalWorkflowExecution + 1,
    // A patch of the job, and one of the follower.
    BatchMarkers: 2,
    UpsertWorkflowSearchAttributes: 2,
    rounds: new Set(['watchRunning']),
    anHourOfRounds: documented('an hour of the follower, for all prompts of a task queue together'),
    whileRenewing: new Set(['updateSandbox', 'timer']),
    timersForEach: 1,
  });
  expect(documented('each later hour of a prompt')).toBe((2 * 3_600_000) / renewAutoStopInMs(1_800, true));
});

const renewalsOf = (done: readonly string[]) => done.filter((name) => name === 'updateSandbox').length;

/** The activities, timers, signals and memos of a job from the hand-over of its prompt to its end. */
async function whileHandedOver(job: Awaited<ReturnType<typeof stand.start>>): Promise<string[]> {
  const { events } = await job.fetchHistory();
  const done = (events ?? []).flatMap((event) => {
    if (event.timerStartedEventAttributes) return ['timer'];
    if (event.workflowExecutionSignaledEventAttributes) return ['signal'];
    if (event.workflowPropertiesModifiedEventAttributes) return ['memo'];
    return event.activityTaskScheduledEventAttributes?.activityType?.name ?? [];
  });
  const handedOver = done.indexOf('followPrompt') + 1;
  return handedOver === 0 ? [] : done.slice(handedOver);
}

it('a command: its activity, its intent, and heartbeats', async () => {
  const job = await stand.start({ prompts: [], commands: ['true'], timing });
  await job.result();
  const limits = ((await job.fetchHistory()).events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'runMarkedCommand' ? [Number(scheduled.heartbeatTimeout?.seconds) * 1_000] : [],
  );
  expect(limits).toHaveLength(1);
  expect(documented('an hour of a command')).toBe(2 + 3_600_000 / (Math.max(...limits) * shareOfHeartbeatTimeout));
});

const claim = { ExecuteMultiOperation: 1, UpdateWorkflowExecution_Acceptance: 1 };
const cleaned = { StartWorkflowExecution: 1, ScheduleActivityTask: 4, StartTimer: 1, ModifyWorkflowProperties: 3 };
it.each([
  {
    row: 'deletes',
    action: 'delete-sandbox',
    made: archived,
    // The claim is released.
    each: { ...claim, SignalExternalWorkflowExecution: 1 } as Actions,
    fixed: cleaned,
  },
  {
    row: 'stops',
    action: 'stop',
    made: ready,
    // The end of the stop: the event, and the signals of the watch, with which the cleanup registers.
    each: { ...claim, SignalExternalWorkflowExecution: 4, RecordActivityTaskHeartbeat: 1, SignalWorkflowExecution: 1 },
    fixed: { ...cleaned, StartTimer: 2 },
  },
])('a cleanup, and each sandbox that it $row', async ({ row, action, made, each, fixed }) => {
  const oneMore = { ...each, ScheduleActivityTask: 2, StartTimer: 3 };
  const counted = async () => {
    const [three, one] = [await cleanup(3, { action, made }), await cleanup(1, { action, made })];
    return { twoMore: added(three, one, -1), fixed: added(one, oneMore, -1) };
  };
  await expect.poll(counted).toEqual({ twoMore: added({}, oneMore, 2), fixed });
  expect(documented(`in addition, each sandbox that it ${row}`)).toBe(billed(oneMore));
  // Temporal bills three for a time of a schedule, and one more for the start of a child. The wait for other runs has a timer.
  expect(documented('a cleanup of a schedule')).toBe(billed(cleaned) + 3 + 1 + 1);
});

let cleanups = 0;
async function cleanup(
  count: number,
  { action, made }: { readonly action: string; readonly made: typeof ready },
): Promise<Actions> {
  cleanups += 1;
  const prefix = `${action}-${cleanups}`;
  for (let index = 0; index < count; index += 1) await made(stand, `${prefix}-${index}`);
  const [actions, handle] = await stand.actionsOf(async () => {
    const begun = await begin(stand, policyFor(prefix, action), { timing });
    await begun.result();
    return begun;
  });
  const looks = (await workOf(handle)).activities.filter((name) => name === 'getDeletionOperation').length;
  // A deletion that lasts is looked at again, after a timer.
  const again = { ScheduleActivityTask: -1, StartTimer: -1 };
  return added(actions, again, Math.max(0, looks - count));
}

/** Kinds that are left with none are left out. */
function added(some: Actions, more: Actions, times: number): Actions {
  const kinds = [...new Set([...Object.keys(some), ...Object.keys(more)])];
  const sums = kinds.map((kind) => [kind, (some[kind] ?? 0) + (more[kind] ?? 0) * times] as const);
  return Object.fromEntries(sums.filter(([, sum]) => sum !== 0));
}
