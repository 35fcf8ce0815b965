/** Keeps one part of the stack running: starts it again whenever it ends, less and less eagerly. */
import { setTimeout as sleep } from 'node:timers/promises';

const firstBackoffMs = 200;
const maxBackoffMs = 5_000;
/** What ran for this long had a good start; the next failure is a new one. */
const healthyAfterMs = 30_000;

export interface RunningService {
  readonly pid: number | undefined;
  readonly url: string | undefined;
  readonly exited: Promise<unknown>;
  /** Ends it and waits. Repeating it changes nothing. */
  stop(): Promise<void>;
}

export interface KeptService {
  readonly name: string;
  /** Where it served when it first started; a service that starts again does so at the same place. */
  readonly url: string | undefined;
  pid(): number | undefined;
  stop(): Promise<void>;
}

export interface KeepRunningOptions {
  readonly name: string;
  /** Starts it and resolves when it serves. `signal` ends a start that is under way. */
  readonly start: (signal: AbortSignal) => Promise<RunningService>;
  readonly log: (line: string) => void;
  /** Ends the first start. */
  readonly signal: AbortSignal;
}

/**
 * Starts the service, and restarts it whenever it ends: after 0.2 s, doubling up to 5 s.
 * @throws the error of the first start, so that a stack that cannot start says so
 */
export async function keepRunning(options: KeepRunningOptions): Promise<KeptService> {
  const { name, start, log, signal } = options;
  const stopping = new AbortController();
  let current = await start(signal);
  const { url } = current;

  /** @returns false when it was stopped meanwhile */
  const startAgain = async (failures: number): Promise<boolean> => {
    for (let failed = failures; ; failed += 1) {
      const backoffMs = Math.min(firstBackoffMs * 2 ** failed, maxBackoffMs);
      await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return false;
      try {
        const next = await start(stopping.signal);
        // Between this question and the assignment nothing else runs: who stops later finds the new one.
        if (!stopping.signal.aborted) {
          current = next;
          return true;
        }
        await next.stop();
      } catch (error) {
        if (!stopping.signal.aborted) log(`${name} could not be started again: ${firstLineOf(error)}`);
      }
    }
  };

  const watch = async () => {
    for (let failures = 0; ; failures += 1) {
      const startedAt = Date.now();
      await current.exited;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > healthyAfterMs) failures = 0;
      log(`${name} ended by itself; starting it again`);
      if (!(await startAgain(failures))) return;
      log(`${name} serves again`);
    }
  };
  const watching = watch();

  return {
    name,
    url,
    pid: () => current.pid,
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
    },
  };
}

function firstLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
