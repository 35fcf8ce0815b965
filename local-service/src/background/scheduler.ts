/**
 * Does work when it is due. Work stays in the database until its handler has ended. If the service is killed before,
 * the next start begins the work again. A handler reads the state first and is safe to repeat.
 */
import type { Clock } from '../clock.js';
import { type Log, reasonOf } from '../log.js';
import type { Database } from '../store/database.js';
import type { Work, WorkKind, WorkStore } from '../store/work-store.js';

export type WorkHandlers = Readonly<Record<WorkKind, (work: Work) => Promise<void> | void>>;

const maxAtOnce = 64;
/** Work that waits for a program for minutes or hours does not count towards `maxAtOnce`. */
const uncounted: readonly WorkKind[] = ['setup', 'hydrate'];
const afterFailureMs = 1_000;

export type Scheduler = ReturnType<typeof createScheduler>;

export function createScheduler(options: {
  readonly database: Database;
  readonly store: WorkStore;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { database, store, clock, log } = options;
  const underWay = new Map<string, Promise<void>>();
  let handlers: WorkHandlers | undefined;
  let cancelTimer: (() => void) | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;

  /** The work under way, without setup scripts. They may run for hours, so only `stop` waits for them. */
  function short(): Promise<void>[] {
    return [...underWay].flatMap(([key, work]) => (key.startsWith('setup:') ? [] : [work]));
  }

  async function perform(work: Work, handler: (work: Work) => Promise<void> | void): Promise<void> {
    try {
      await handler(work);
      if (handlers) store.done(work);
    } catch (cause) {
      log(`${work.kind} failed and will be retried`, { subject: work.subject, reason: reasonOf(cause) });
      if (handlers) store.postpone(work, clock.now() + afterFailureMs);
    }
  }

  function wakeNoLaterThan(dueAt: number): void {
    if (!handlers || dueAt >= wakeAt) return;
    cancelTimer?.();
    wakeAt = dueAt;
    cancelTimer = clock.at(dueAt, pass);
  }

  function pass(): void {
    wakeAt = Number.POSITIVE_INFINITY;
    cancelTimer?.();
    if (!handlers) return;
    const now = clock.now();
    const counted = [...underWay.keys()].filter((key) => !uncounted.some((kind) => key.startsWith(`${kind}:`)));
    let free = maxAtOnce - counted.length;
    for (const work of store.next(maxAtOnce + underWay.size + 1)) {
      if (work.dueAt > now) {
        wakeNoLaterThan(work.dueAt);
        return;
      }
      if (underWay.has(work.key)) continue;
      if (free <= 0) return;
      if (!uncounted.includes(work.kind)) free--;
      const handler = handlers[work.kind];
      const running = perform(work, handler).finally(() => {
        underWay.delete(work.key);
        wakeNoLaterThan(clock.now());
      });
      underWay.set(work.key, running);
    }
  }

  return {
    schedule(kind: WorkKind, subject: string, token: string, dueAt: number) {
      store.put(kind, subject, token, dueAt);
      database.afterCommit(() => wakeNoLaterThan(dueAt));
    },
    start(given: WorkHandlers) {
      handlers = given;
      wakeNoLaterThan(clock.now());
    },
    /** Starts no further work, and waits for all work under way. */
    async stop() {
      handlers = undefined;
      cancelTimer?.();
      wakeAt = Number.POSITIVE_INFINITY;
      await Promise.all(underWay.values());
    },
    /** True while work other than setup scripts is under way. */
    busy: () => short().length > 0,
    /** Waits until no work other than setup scripts is under way. */
    async idle() {
      for (let work = short(); work.length > 0; work = short()) await Promise.all(work);
    },
  };
}
