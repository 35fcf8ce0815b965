/**
 * What `schedule show` tells of the days on which a clock changes, against the times that Temporal itself says it will
 * run. Tier: temporal, about 3 s.
 */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { oddTimeText } from '../../../src/cli/schedule/time-text.js';
import { readPolicy } from '../../../src/retention/index.js';
import { readOddTimes } from '../../../src/workflow-client/schedules/odd-times.js';
import { putSchedule } from '../../../src/workflow-client/schedules/schedule-client.js';
import { scheduledCleanup } from '../../../src/workflow-client/schedules/scheduled-work.js';

let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
  client = new Client({ connection });
});
afterAll(() => connection.close());

const deployment = `c${randomBytes(5).toString('hex')}`;
const work = scheduledCleanup({ deployment, policy: readPolicy('rules: [{rule: a, action: stop}]', 'p.yaml') });
const year = { fromMs: Date.UTC(2027, 0, 1), toMs: Date.UTC(2028, 0, 1) };

async function schedule(cron: string, zone: string) {
  const name = `n${randomBytes(3).toString('hex')}`;
  await putSchedule(client, { deployment, name, taskQueue: 'nobody', work, times: { cron, zone } });
  return client.schedule.getHandle(`schedule/${deployment}/${name}`).describe();
}

/** Temporal's own times of one day in UTC. */
async function timesOfDay(scheduleId: string, day: string): Promise<string[]> {
  const seconds = Date.parse(day) / 1_000;
  const span = { startTime: { seconds: (seconds - 1) as never }, endTime: { seconds: (seconds + 86_399) as never } };
  const asked = { namespace: 'default', scheduleId, ...span };
  const { startTime } = await client.workflowService.listScheduleMatchingTimes(asked);
  return startTime.map((time) => new Date(Number(time.seconds) * 1_000).toISOString().slice(11, 16));
}

it('a time that does not exist, and one that comes twice, are told as Temporal runs them', async () => {
  const described = await schedule('30 2 * * *', 'Europe/Vienna');
  const odd = await readOddTimes(client, described, 'Europe/Vienna', year);
  const [autumn = ''] = await timesOfDay(described.scheduleId, '2027-10-31');
  expect(await timesOfDay(described.scheduleId, '2027-03-28')).toEqual([]);
  expect(await timesOfDay(described.scheduleId, '2027-10-31')).toHaveLength(1);
  expect(odd.map(oddTimeText)).toEqual([
    '2027-03-28 02:30 does not exist, because the clock is set forward: no run is due then.',
    `2027-10-31 02:30 comes twice, because the clock is set back: one run is due, at ${autumn} UTC.`,
  ]);
});

it('a time that Temporal runs twice is told so', async () => {
  const described = await schedule('30 1 * * 0', 'America/New_York');
  const odd = await readOddTimes(client, described, 'America/New_York', year);
  const runs = await timesOfDay(described.scheduleId, '2027-11-07');
  expect(odd.map(oddTimeText)).toEqual([
    `2027-11-07 01:30 comes twice, because the clock is set back: two runs are due, at ${runs.join(' and ')} UTC.`,
  ]);
});

it.each([
  ['0,15,30 1-3 * * *', 'Europe/Vienna', 3, 3],
  ['*/10 * * * *', 'America/New_York', 6, 6],
  ['30 2 * * 1-5', 'Europe/Vienna', 0, 0],
  ['15 2 * * *', 'Australia/Lord_Howe', 1, 0],
  ['45 1 * * *', 'Australia/Lord_Howe', 0, 1],
  ['30 2 31 10 *', 'Europe/Vienna', 0, 1],
  ['30 2 * * *', 'UTC', 0, 0],
  ['@every 20m', 'Europe/Vienna', 0, 0],
  ['@hourly', 'Europe/Lisbon', 1, 1],
])('of %s in %s, the clock skips %i times of 2027 and repeats %i', async (cron, zone, missing, twice) => {
  const described = await schedule(cron, zone);
  const odd = await readOddTimes(client, described, zone, year);
  const count = (kind: string) => odd.filter((one) => one.kind === kind).length;
  expect([count('missing'), count('twice')]).toEqual([missing, twice]);
  for (const { local, moments, runsAt } of odd) {
    const days = [...new Set(moments.map((moment) => moment.slice(0, 10)))];
    const runs = (await Promise.all(days.map((day) => timesOfDay(described.scheduleId, day)))).flat();
    expect({ local, runsAt: runsAt.map((at) => at.slice(11, 16)) }).toEqual({
      local,
      runsAt: moments.map((moment) => moment.slice(11, 16)).filter((time) => runs.includes(time)),
    });
  }
});
