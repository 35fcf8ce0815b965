/** Computes when the cleanup of a policy begins, so that one of its windows is open at that time. Pure. */
import { SandflowError } from '../contract/workflow-safe/sandflow-error.js';
import { type CleanupPolicy, type Weekday, type Window, weekdays } from './policy.js';
import { windowsText } from './window.js';

export interface StartTime {
  readonly minute: number;
  readonly days: readonly Weekday[];
  /** Minutes until the window closes; null if the policy has no windows. */
  readonly minutesLeft: number | null;
}

const dayMinutes = 24 * 60;
/** 02:30, for policies without windows. */
const defaultMinute = 150;

/**
 * @param atMinute minutes since midnight in the policy's time zone; default: when the first window opens, or 02:30
 * without windows
 * @throws SandflowError `bad_policy` if no window is open at that time
 */
export function startTimeOf(policy: CleanupPolicy, atMinute?: number): StartTime {
  const { windows } = policy;
  const [first] = windows;
  if (first === undefined) return { minute: atMinute ?? defaultMinute, days: weekdays, minutesLeft: null };
  if (atMinute === undefined) return { minute: first.fromMinute, days: first.days, minutesLeft: lengthOf(first) };
  const open = windows.map((window) => ({ window, since: (atMinute - window.fromMinute + dayMinutes) % dayMinutes }));
  const fits = open.filter(({ window, since }) => since < lengthOf(window));
  const [longest] = fits.sort((a, b) => lengthOf(b.window) - b.since - (lengthOf(a.window) - a.since));
  if (!longest) {
    const at = `${String(Math.floor(atMinute / 60)).padStart(2, '0')}:${String(atMinute % 60).padStart(2, '0')}`;
    throw new SandflowError('bad_policy', `No window is open at ${at}. Cleanups may act ${windowsText(policy)}.`);
  }
  const { window, since } = longest;
  // A window that opened before midnight is still open on the next day.
  const days = atMinute >= window.fromMinute ? window.days : window.days.map(dayAfter);
  return { minute: atMinute, days, minutesLeft: lengthOf(window) - since };
}

const lengthOf = ({ fromMinute, toMinute }: Window) => (toMinute - fromMinute + dayMinutes) % dayMinutes || dayMinutes;

const dayAfter = (day: Weekday) => weekdays[(weekdays.indexOf(day) + 1) % 7] ?? day;
