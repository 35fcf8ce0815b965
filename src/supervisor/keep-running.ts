/** Keeps one part of the stack running: restarts it whenever it ends, after pauses that grow. */
import { setTimeout as sleep } from 'node:timers/promises';

const firstBackoffMs = 200;
const maxBackoffMs = 5_000;
/** If a service ran for longer than this, in ms, its next failure counts as the first. */
const healthyAfterMs = 30_000;

export interface RunningService {
  readonly pid: number | undefined;
  readonly url: string | undefined;
  readonly exited: Promise<unknown>;
  /** Ends the service and waits for its end. Repeating it changes nothing. */
  stop(): Promise<void>;
}

export type KeptService = Readonly<Awaited<ReturnType<typeof keepRunning>>>;

export interface KeepRunningOptions {
  readonly name: string;
  /** Starts the service and resolves when it serves. `signal` ends a start that is in progress. */
  readonly start: (signal: AbortSignal) => Promise<RunningService>;
  readonly log: (line: string) => void;
  /** Ends the first start. */
  readonly signal: AbortSignal;
}

/**
 * Starts the service, and restarts it whenever it ends: after 0.2 s, doubling up to 5 s.
 * @throws the error of the first start, so that the caller learns why the stack cannot start
 */
export async function keepRunning(options: KeepRunningOptions) {
  const { name, start, log, signal } = options;
  const stopping = new AbortController();
  let current = await start(signal);
  const { url } = current;

  /** @returns false if the service was stopped meanwhile */
  const startAgain = async (failures: number): Promise<boolean> => {
    for (let failed = failures; ; failed += 1) {
      const backoffMs = Math.min(firstBackoffMs * 2 ** failed, maxBackoffMs);
      await sleep(backoffMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return false;
      try {
        const next = await start(stopping.signal);
        // Nothing else runs between this check and the assignment, so a later `stop` ends the new service.
        if (!stopping.signal.aborted) {
          current = next;
          return true;
        }
        await next.stop();
      } catch (error) {
        if (!stopping.signal.aborted) log(`${name} could not be restarted: ${firstLineOf(error)}`);
      }
    }
  };

  const watch = async () => {
    for (let failures = 0; ; failures += 1) {
      const startedAt = Date.now();
      await current.exited;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > healthyAfterMs) failures = 0;
      log(`${name} exited; restarting it`);
      if (!(await startAgain(failures))) return;
      log(`${name} is running again`);
    }
  };
  const watching = watch();

  return {
    name,
    /** URL at the first start. A restarted service serves at the same URL. */
    url,
    pid: () => current.pid,
    async stop(): Promise<void> {
      stopping.abort();
      await current.stop();
      await watching;
    },
  };
}

function firstLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
