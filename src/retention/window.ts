/** Checks whether a policy's windows are open, by the wall clock of its time zone. Pure. */
import { type CleanupPolicy, type Weekday, type Window, weekdays } from '../protocol/cleanup-policy.js';

interface WallClock {
  readonly day: Weekday;
  readonly minute: number;
}

/**
 * The local day and minute in a time zone. When clocks are set back, one hour occurs twice; when they are set forward,
 * one hour is missing.
 */
function wallClock(atMs: number, timeZone: string): WallClock {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(atMs);
  const read = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const day = read('weekday').toLowerCase() as Weekday;
  return { day, minute: Number(read('hour')) * 60 + Number(read('minute')) };
}

const dayMinutes = 24 * 60;
const minuteMs = 60_000;

/** Number of minutes that a window has been open; undefined if it is closed. */
function openForMinutes({ fromMinute, toMinute, days }: Window, { day, minute }: WallClock): number | undefined {
  const length = (toMinute - fromMinute + dayMinutes) % dayMinutes || dayMinutes;
  const before = weekdays[(weekdays.indexOf(day) + 6) % 7] ?? day;
  if (minute >= fromMinute && minute - fromMinute < length && days.includes(day)) return minute - fromMinute;
  const sinceYesterday = minute + dayMinutes - fromMinute;
  if (sinceYesterday < length && days.includes(before)) return sinceYesterday;
  return undefined;
}

/** True if a cleanup may act now. Without windows, it may always act. */
export function isWindowOpen({ windows, timeZone }: CleanupPolicy, atMs: number): boolean {
  if (windows.length === 0) return true;
  const clock = wallClock(atMs, timeZone);
  return windows.some((window) => openForMinutes(window, clock) !== undefined);
}

/**
 * The policy with its windows open at any time, for a cleanup that somebody starts by hand. Each window still begins at
 * its time of day, so that actions of earlier runs since then count towards the limits of the night.
 */
export function withOpenWindows(policy: CleanupPolicy): CleanupPolicy {
  const windows = policy.windows.map((window) => ({ ...window, toMinute: window.fromMinute, days: weekdays }));
  return { ...policy, windows };
}

/**
 * The beginning of the night whose limits apply: when the window opened, or midnight without windows. If the clocks
 * change during the night, the result is up to an hour too early, so that every action is counted.
 */
export function nightBeganAtMs({ windows, timeZone }: CleanupPolicy, atMs: number): number {
  const clock = wallClock(atMs, timeZone);
  const openFor = windows.map((window) => openForMinutes(window, clock) ?? 0);
  const minutes = windows.length === 0 ? clock.minute : Math.max(...openFor);
  const beganAtMs = atMs - (minutes + 1) * minuteMs;
  const isEven = (wallClock(beganAtMs, timeZone).minute + minutes + 1) % dayMinutes === clock.minute;
  return isEven ? beganAtMs : beganAtMs - 60 * minuteMs;
}

/** The windows in words, for people. */
export function windowsText({ windows, timeZone }: CleanupPolicy): string {
  if (windows.length === 0) return 'at any time';
  const spans = windows.map(({ fromMinute, toMinute, days }) => {
    const on = days.length === 7 ? '' : ` on ${days.join(', ')}`;
    return `${clockText(fromMinute)} to ${clockText(toMinute)}${on}`;
  });
  return `${spans.join(' and ')}, ${timeZone}`;
}

const clockText = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

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
