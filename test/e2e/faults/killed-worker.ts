/** A worker that is killed with SIGKILL at a moment of its calls, and the worker that takes over. */
import type { LocalService, PartsOfStack } from '../stack/fixture-parts.js';
import { createTap, type PassedCall } from '../stack/fixture-tap.js';

export interface KilledWorker {
  readonly taskQueue: string;
  /** The paths of the calls of both workers, answered or not. */
  readonly asked: readonly string[];
  /** The calls of both workers that the service has answered. */
  readonly answered: readonly PassedCall[];
  /** Kills the worker. The answers to its calls are lost from now on. */
  kill(): void;
  /** Resolves once the killed worker is dead and the next one is ready. */
  readonly replaced: Promise<void>;
  close(): Promise<void>;
}

export interface KilledWorkerOptions {
  readonly taskQueue: string;
  /**
   * Called with each call of the first worker before the service gets it. The service gets the call once the promise
   * resolves.
   */
  readonly onAsked?: (path: string, worker: KilledWorker) => Promise<void> | undefined;
  /** Called with each call of both workers that the service has answered, before the worker gets the answer. */
  readonly onAnswered?: (call: PassedCall, worker: KilledWorker) => void;
}

export async function startKilledWorker(
  parts: PartsOfStack,
  service: LocalService,
  { taskQueue, onAsked, onAnswered }: KilledWorkerOptions,
): Promise<KilledWorker> {
  const asked: string[] = [];
  const answered: PassedCall[] = [];
  let isKilled = false;
  const tap = await createTap(
    service.url,
    (call) => {
      const isOfKilled = isKilled;
      answered.push(call);
      onAnswered?.(call, worker);
      return isKilled === isOfKilled;
    },
    {
      onAsked({ path }) {
        asked.push(path);
        return onAsked?.(path, worker);
      },
    },
  );
  const environment = parts.environment({ ...service, url: tap.url }, taskQueue);
  const first = await parts.startWorker(environment);
  const replaced = first.ended.then(async () => void (await parts.startWorker(environment)));
  const worker: KilledWorker = {
    taskQueue,
    asked,
    answered,
    kill() {
      isKilled = true;
      first.process.kill('SIGKILL');
    },
    replaced,
    close: () => tap.close(),
  };
  return worker;
}
