/**
 * Reads files of /proc that show the memory of a process, such as its command line. The kernel lets a reader wait while
 * the process changes its memory, for example while it forks: with a sandbox full of processes that fork without end,
 * up to seconds for each of them. So the event loop never waits for such a file, at most one is being read at a time,
 * and what has not been read in time is left out.
 */
import { setTimeout as delay } from 'node:timers/promises';

const maxReadMs = 2_000;

export function createPatientReads() {
  let lastTurn: Promise<void> = Promise.resolve();
  /** Resolves with what was read in time. @param read resolves with undefined if the process has ended */
  return async <Content>(
    pids: readonly number[],
    read: (pid: number) => Promise<Content | undefined>,
  ): Promise<ReadonlyMap<number, Content>> => {
    const found = new Map<number, Content>();
    const untilMs = performance.now() + maxReadMs;
    lastTurn = lastTurn.then(async () => {
      for (const pid of pids) {
        if (performance.now() > untilMs) return;
        const content = await read(pid).catch(() => undefined);
        if (content !== undefined) found.set(pid, content);
      }
    });
    const inTime = new AbortController();
    await Promise.race([lastTurn, delay(maxReadMs, undefined, { signal: inTime.signal }).catch(() => undefined)]);
    inTime.abort();
    // A read that is still under way adds nothing any more.
    return new Map(found);
  };
}
