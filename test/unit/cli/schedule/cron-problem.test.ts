/** Which cron expressions a schedule takes. Tier: unit. */
import { describe, expect, it } from 'vitest';
import { cronProblem } from '../../../../src/workflow-client/schedules/cron-problem.js';

describe('a cron expression', () => {
  it.each([
    '30 2 * * 1-5',
    '0,15,30 1-3 * * *',
    '1-59/2 */6 1,15 jan,JUN-aug sun',
    '00 02 * * 7',
    ' 5/10 * * * * \n',
    '@daily',
    '@every 1h30m/15m',
    '@every 5s',
    '*/59 */23 */30 */11 */7',
    '0 0 31 1/3 *',
    '0 0 31,1 feb *',
  ])('can be "%s"', (cron) => expect(cronProblem(cron)).toBeUndefined());

  it.each([
    ['', 'has 0 fields, but must have 5'],
    ['0 0 2 * * 1', 'has 6 fields, but must have 5'],
    ['0 0 2 * * 1 2027', 'has 7 fields, but must have 5'],
    ['0 0 * * 1#2', 'must not have a #'],
    ['0 0 * * * # midnight', 'must not have a #'],
    ['*/100 * * * *', 'has the step of "*/100", which reaches no second value: use at most 59'],
    ['0 1,*/24 * * *', 'use at most 23'],
    ['CRON_TZ=UTC 0 0 * * *', 'must not name a time zone'],
  ])('cannot be "%s", and the answer names what is wrong', (cron, why) => {
    expect(cronProblem(cron)).toContain(why);
  });
});
