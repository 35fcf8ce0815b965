/** Workers that are killed with SIGKILL at a moment of their calls, and the workers that take over. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import type { NewJob } from '../../../src/protocol/job/job-input.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { type JobHandle, startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { createParts, type LocalService, type PartsOfStack } from '../stack/fixture-parts.js';
import { createTap, type PassedCall } from '../stack/fixture-tap.js';

export interface KilledWorker {
  /** The paths of the calls of both workers, answered or not. */
  readonly asked: readonly string[];
  /** The calls of both workers that the service has answered. */
  readonly answered: readonly PassedCall[];
  /** Starts a job that these workers run. */
  start(input: Omit<NewJob, 'deployment'>): Promise<JobHandle>;
  /** Kills the worker. The answers to its calls are lost from now on. */
  kill(): void;
  /** Resolves once the killed worker is dead and the next one is ready. */
  readonly replaced: Promise<void>;
}

export interface Moments {
  /**
   * Called with each call of the first worker before the service gets it. The service gets the call once the promise
   * resolves.
   */
  readonly onAsked?: (path: string, worker: KilledWorker) => Promise<void> | undefined;
  /** Called with each call of both workers that the service has answered, before the worker gets the answer. */
  readonly onAnswered?: (call: PassedCall, worker: KilledWorker) => void;
}

export interface KillStand {
  /** For hooks and tests: they do not exist before the hooks of the file. */
  readonly service: LocalService;
  readonly api: SandboxClient;
  /** @param taskQueue one for each worker that is killed */
  startWorker(taskQueue: string, moments?: Moments): Promise<KilledWorker>;
}

/** Starts one service and one Temporal for all tests of a file, and ends them with all workers. */
export function shareKillStand(): KillStand {
  let parts: PartsOfStack;
  let service: LocalService;
  let api: SandboxClient;
  let temporal: Client;
  const taps: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    parts = await createParts();
    service = await parts.startService('service', { timings: { bootMs: 100, archiveMs: 50, hydrationMs: 50 } });
    api = createSandboxClient({ baseUrl: service.url, apiKey: service.apiKey });
    temporal = await connectTemporal({ address: parts.temporalAddress });
  });
  afterAll(async () => {
    for (const tap of taps) await tap.close();
    await temporal.connection.close();
    await api.close();
    await parts.close();
  });
  return {
    get service() {
      return service;
    },
    get api() {
      return api;
    },
    async startWorker(taskQueue, { onAsked, onAnswered } = {}) {
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
      taps.push(tap);
      const environment = parts.environment({ ...service, url: tap.url }, taskQueue);
      const first = await parts.startWorker(environment);
      const worker: KilledWorker = {
        asked,
        answered,
        start: async (input) => (await startJob(temporal, { deployment: 'parts', ...input }, { taskQueue })).handle,
        kill() {
          isKilled = true;
          first.process.kill('SIGKILL');
        },
        replaced: first.ended.then(async () => void (await parts.startWorker(environment))),
      };
      return worker;
    },
  };
}
