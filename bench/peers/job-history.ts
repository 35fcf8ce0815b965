/** What the histories of jobs say: their sizes, and where the time of a job goes. */
import { median } from '../measure/quantiles.js';
import type { JobEvent } from './peer.js';
import type { SandboxBook } from './service/books.js';

/** Medians over the jobs. */
export interface JobHistory {
  readonly workflowTasks: number;
  readonly events: number;
  readonly timers: number;
  readonly activities: number;
}

/** From one moment of a job to the next one. */
export interface Hop {
  /** What ends the hop, such as `stopSandbox scheduled`. */
  readonly until: string;
  /** The median over the jobs. */
  readonly ms: number;
}

export function sizeOf(histories: readonly (readonly JobEvent[])[]): JobHistory {
  const count = (type: string) => median(histories.map((events) => events.filter((one) => one.type === type).length));
  return {
    workflowTasks: count('workflowTaskCompleted'),
    events: median(histories.map(({ length }) => length)),
    timers: count('timerStarted'),
    activities: count('activityTaskScheduled'),
  };
}

/** The hops of the jobs that took the most frequent course. */
export function hopsOf(jobs: readonly { readonly events: readonly JobEvent[]; readonly book?: SandboxBook }[]): Hop[] {
  const courses = new Map<string, Moment[][]>();
  for (const { events, book } of jobs) {
    const moments = momentsOf(events, book);
    const course = moments.map(({ name }) => name).join();
    courses.set(course, [...(courses.get(course) ?? []), moments]);
  }
  const [usual = []] = [...courses.values()].sort((a, b) => b.length - a.length);
  const [first = []] = usual;
  return first.slice(1).map(({ name }, index) => ({
    until: name,
    ms: median(usual.map((moments) => (moments[index + 1]?.atMs ?? 0) - (moments[index]?.atMs ?? 0))),
  }));
}

interface Moment {
  readonly name: string;
  readonly atMs: number;
}

function momentsOf(events: readonly JobEvent[], book: SandboxBook | undefined): Moment[] {
  const ofService = [
    { name: 'sandbox.ready sent', atMs: book?.readySentAtMs },
    { name: 'prompt received', atMs: book?.promptsAtMs[0] },
    { name: 'sandbox.archived sent', atMs: book?.archivedSentAtMs },
  ].flatMap(({ name, atMs }) => (atMs == null ? [] : [{ name, atMs }]));
  let activity = '';
  const ofEngine = events.flatMap(({ type, name, atMs }) => {
    if (type === 'activityTaskScheduled') activity = name ?? '';
    const told = toldEvents[type];
    return told === undefined ? [] : [{ name: told({ activity, signal: name ?? '' }), atMs }];
  });
  return [...ofEngine, ...ofService].sort((a, b) => a.atMs - b.atMs);
}

/** A workflow task is scheduled with the event that it is for, and commands are recorded with the end of their task. */
const toldEvents: Readonly<Record<string, (names: { readonly activity: string; readonly signal: string }) => string>> =
  {
    workflowExecutionStarted: () => 'start',
    workflowExecutionSignaled: ({ signal }) => `signal ${signal}`,
    workflowTaskStarted: () => 'workflow task taken',
    workflowTaskCompleted: () => 'workflow task completed',
    activityTaskStarted: ({ activity }) => `${activity} taken`,
    activityTaskCompleted: ({ activity }) => `${activity} completed`,
  };
