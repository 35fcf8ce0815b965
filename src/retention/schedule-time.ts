/** Says when the cleanups of a policy run if nobody says otherwise. Pure. */
import { type CleanupPolicy, weekdays } from '../protocol/cleanup-policy.js';

/** 02:30, for policies without windows. */
const defaultMinute = 150;

/** When the first window of the policy opens, or 02:30 without windows: a cron expression in the zone of the policy. */
export function firstWindowCron({ windows: [first], timeZone }: CleanupPolicy): {
  readonly cron: string;
  readonly zone: string;
} {
  const { fromMinute, days } = first ?? { fromMinute: defaultMinute, days: weekdays };
  const onDays = days.length === weekdays.length ? '*' : days.join(',').toUpperCase();
  return { cron: `${fromMinute % 60} ${Math.floor(fromMinute / 60)} * * ${onDays}`, zone: timeZone };
}
