/** A worker with all activities, a workflow that calls them one at a time, and a service with scripted answers. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createActivities, createFollowActivities, createNotifyActivities } from '../../activities/index.js';
import type { SandboxClientOptions } from '../../src/client/index.js';
import { createResultStore, type ResultStore } from '../../src/result-store/index.js';
import { createSecretStore, type SecretStore } from '../../src/secret-store/index.js';
import { countCalls } from '../../src/worker/index.js';
import { type Answer, createClosing, startStand } from '../unit/client/http-harness.js';
import type { CalledActivity, callActivity } from './own/call-activity.js';

export interface ActivityStand {
  readonly results: ResultStore;
  readonly secrets: SecretStore;
  /** Replaces the answers of the service and forgets its calls. */
  answer(next: Answer): void;
  /** Methods and paths of the calls to the service. */
  seen(): string[];
  /** The result of the activity in the workflow, and the number of its calls. */
  run(name: string, ...args: readonly unknown[]): Promise<CalledActivity>;
  /** The failure in the workflow. */
  failureOf(name: string, ...args: readonly unknown[]): Promise<ApplicationFailure>;
  /** Ends the running attempt of the activity in Temporal, as if its worker had died. It goes on to run here. */
  loseAttempt(): Promise<void>;
  /** Everything that Temporal stores of the last run. */
  history(): Promise<string>;
  close(): Promise<void>;
}

/** How long a rotation waits after a lost answer, in ms. */
export const lateForMs = 700;
/**
 * After the death of a worker, the wait counts from the moment when the call was about to be sent. The service sees the
 * rest of it, because the call takes some time to arrive.
 */
export const leastSeenMs = lateForMs - 200;

/** The tests provoke the warnings of activities. */
Runtime.install({ logger: new DefaultLogger('ERROR') });

/**
 * @param options.withSecrets false for a worker without a secret store; `client`: settings of its client
 */
export async function createActivityStand(
  options: { readonly withSecrets?: boolean; readonly client?: Partial<SandboxClientOptions> } = {},
): Promise<ActivityStand> {
  const closing = createClosing();
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-activities-'));
  let current: Answer = (_, response) => void response.writeHead(500).end();
  const service = closing.keep(await startStand((request, response) => current(request, response)));
  const results = createResultStore(join(directory, 'results'));
  const secrets = createSecretStore(join(directory, 'secrets'));
  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const temporal = new Client({ connection });
  const taskQueue = `activities-${randomBytes(4).toString('hex')}`;
  const workflowBundle = { codePath: inject('callActivityBundlePath') };
  const dependencies = {
    client: closing.client(service, options.client),
    results,
    secrets: options.withSecrets === false ? undefined : secrets,
    taskQueue,
    rotation: { lateForMs },
    follow: { minIntervalMs: 200 },
  };
  const activities = {
    ...createActivities(dependencies),
    ...createFollowActivities(dependencies),
    ...createNotifyActivities({}),
  };
  const interceptors = { activity: [countCalls] };
  const worker = await Worker.create({ connection, taskQueue, workflowBundle, activities, interceptors });
  const running = worker.run();
  let lastId = '';

  const run = (name: string, ...args: readonly unknown[]) => {
    lastId = `call-${name}-${randomBytes(4).toString('hex')}`;
    return temporal.workflow.execute<typeof callActivity>('callActivity', {
      workflowId: lastId,
      taskQueue,
      args: [name, args],
    });
  };
  return {
    results,
    secrets,
    run,
    answer(next) {
      current = next;
      service.seen.length = 0;
    },
    seen: () => service.seen.map(({ method, url }) => `${method} ${url}`),
    async failureOf(name, ...args) {
      try {
        await run(name, ...args);
      } catch (error) {
        const activity = error instanceof WorkflowFailedError ? error.cause : undefined;
        const failure = activity instanceof ActivityFailure ? activity.cause : activity;
        if (failure instanceof ApplicationFailure) return failure;
        throw error;
      }
      throw new Error('it did not fail');
    },
    loseAttempt: () => temporal.activity.fail({ workflowId: lastId, activityId: '1' }, new Error('the worker died')),
    async history() {
      const text = JSON.stringify(await temporal.workflow.getHandle(lastId).fetchHistory());
      // Payloads are bytes in base64.
      const payloads = [...text.matchAll(/"data":"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
        Buffer.from(data, 'base64').toString('utf8'),
      );
      return [text, ...payloads].join('\n');
    },
    async close() {
      worker.shutdown();
      await running;
      await closing.closeAll();
      await connection.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
