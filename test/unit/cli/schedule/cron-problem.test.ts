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
    ['0 0 L * *', 'has the day of the month "L": use 1 to 31'],
    ['60 0 * * *', 'has the minute "60": use 0 to 59'],
    ['0 22-2 * * *', 'has the hour "22-2"'],
    ['0 0 * 1,,2 *', 'has the month "1,,2": use 1 to 12, or names such as jan'],
    ['0 0 * * 1/0', 'has the day of the week "1/0"'],
    ['0 0 * * tues-xday', 'has the day of the week "tues-xday"'],
    ['*/100 * * * *', 'has the minute "*/100": use 0 to 59'],
    ['0 */24 * * *', 'steps such as */2, up to 23'],
    ['@reboot', 'has the word "@reboot"'],
    ['@every 90', 'has the word "@every 90"'],
    ['CRON_TZ=UTC 0 0 * * *', 'must not name a time zone'],
  ])('cannot be "%s", and the answer names what is wrong', (cron, why) => {
    expect(cronProblem(cron)).toContain(why);
  });
});
