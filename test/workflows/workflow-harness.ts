/** The product without its processes: local service, bridge, worker and client, on the run's Temporal server. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { inject } from 'vitest';
import {
  createLocalService,
  type FaultInput,
  type LocalService,
  type LocalServiceOptions,
} from '../../local-service/src/index.js';
import { jobWorkflowId } from '../../src/addresses/addresses.js';
import { type Bridge, createBridge, createSecretSource, ensureWebhook, webhookPath } from '../../src/bridge/index.js';
import { createSandboxClient, type SandboxClient } from '../../src/client/index.js';
import { createResultStore, type ResultStore } from '../../src/result-store/index.js';
import { createSandflowWorker, type SandflowWorkerOptions } from '../../src/worker/index.js';
import type { createThenPrompt, JobInput } from '../../workflows/index.js';

export interface Stand {
  readonly service: LocalService;
  readonly api: SandboxClient;
  readonly client: Client;
  readonly bridge: Bridge;
  readonly bridgeUrl: string;
  readonly results: ResultStore;
  /** The folder of the result store. */
  readonly resultsDirectory: string;
  readonly taskQueue: string;
  fault(fault: FaultInput): Promise<void>;
  start(
    input: Partial<JobInput>,
    options?: { readonly taskQueue?: string },
  ): Promise<WorkflowHandleWithFirstExecutionRunId<typeof createThenPrompt>>;
  /** Shuts the worker down, runs a function while there is none, and starts another one. */
  restartWorker(meanwhile?: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export interface StandOptions {
  readonly service?: Partial<LocalServiceOptions>;
  readonly worker?: Partial<SandflowWorkerOptions>;
  /** For the client, and for the worker unless it has its own. */
  readonly dataConverter?: DataConverter;
  /** Wraps the result store in `directory`. */
  readonly results?: (store: ResultStore) => ResultStore;
  /** Wraps the service for the worker's client. */
  readonly through?: (client: SandboxClient) => SandboxClient;
  /** `host:port` of another Temporal server. Default: the one of the run. */
  readonly temporalAddress?: string;
  /** Creates the worker's client for the address of the service. The caller closes it. */
  readonly connect?: (serviceUrl: string) => Promise<SandboxClient>;
}

const apiKey = 'test-key';
export const deployment = 'test';
/** Short, so that a lost event costs a test a second and not five minutes. */
export const shortTiming = {
  safetyPollFirstMs: 700,
  safetyPollGrowth: 1.5,
  safetyPollMaxMs: 3_000,
  errorGraceMs: 4_000,
  readLagMs: 3_000,
};

/** For waits for an event: no safety poll comes earlier, however busy the machine is. */
export const withoutPolls = { ...shortTiming, safetyPollFirstMs: 600_000, safetyPollMaxMs: 600_000 };

/** For lagging reads: nothing that they show is believed during a test. */
export const believesNothing = { ...shortTiming, readLagMs: 600_000 };

/** For `vi.waitFor`: the limits of `expect.poll` in the project, which does not exist in hooks and concurrent tests. */
export const patient = { timeout: 120_000, interval: 50 };

/** A command that lasts until the file `go` is in its sandbox. */
export const untilGo = 'until [ -e go ]; do sleep 0.1; done';

/** Ends the wait of `untilGo`. */
export const letGo = ({ api }: Pick<Stand, 'api'>, sandboxId: string | null | undefined) =>
  api.writeFile(sandboxId ?? '', { path: 'go', content: '' });

/** Ends all faults that are armed. */
export async function endFaults({ service }: Pick<Stand, 'service'>): Promise<void> {
  await fetch(`${service.adminUrl}/faults`, { method: 'DELETE', headers: { authorization: `Bearer ${apiKey}` } });
}

export const script = (commands: string) => ['Please run this.', '```sh', commands, '```'].join('\n');

export function jobInput(over: Partial<JobInput> = {}): JobInput {
  return {
    deployment,
    jobId: `job-${randomBytes(5).toString('hex')}`,
    source: { kind: 'create', body: {} },
    waitFor: 'usable',
    put: [],
    prompts: [{ prompt: script('echo hello') }],
    conversations: 'one',
    collect: [],
    end: 'stop',
    deadlineMs: 600_000,
    ttlSeconds: 600,
    onUnknownOutcome: 'wait',
    maxGenerations: 3,
    timing: shortTiming,
    ...over,
  };
}

/** The tests provoke the warnings of activities. */
Runtime.install({ logger: new DefaultLogger('ERROR') });

export async function createStand(options: StandOptions = {}): Promise<Stand> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-stand-'));
  const service = await createLocalService({
    directory: join(directory, 'service'),
    apiKey,
    faultsEnabled: true,
    isolation: 'plain',
    log: () => undefined,
    ...options.service,
    timings: {
      bootMs: 100,
      archiveMs: 50,
      hydrationMs: 50,
      stopRetryMs: 200,
      webhookRetryMs: 100,
      ...options.service?.timings,
    },
  });
  const { url } = await service.listen();
  const api = createSandboxClient({ baseUrl: url, apiKey });
  const { dataConverter, temporalAddress = inject('temporalAddress') } = options;
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const client = new Client({ connection, dataConverter });
  const secretFile = join(directory, 'secrets');
  // The bridge needs a secret before it listens, and the registration needs the address: nobody signs with this one.
  const fixed = [`whsec_${randomBytes(32).toString('base64')}`];
  const bridge = createBridge({ temporalClient: client, secrets: createSecretSource({ fixed, file: secretFile }) });
  const { url: bridgeUrl } = await bridge.listen({ port: 0 });
  await ensureWebhook(api, { url: `${bridgeUrl}${webhookPath}`, name: 'test', secretFile });
  const store = createResultStore(join(directory, 'results'));
  const results = options.results?.(store) ?? store;
  const taskQueue = `test-${randomBytes(4).toString('hex')}`;
  const workerOptions = {
    connection,
    client: (await options.connect?.(url)) ?? options.through?.(api) ?? api,
    results,
    taskQueue,
    follow: { minIntervalMs: 100, briefFollowMs: 100 },
    shutdownGraceTime: '1 second',
    dataConverter,
    workflowBundle: { codePath: inject('workflowBundlePath') },
    ...options.worker,
  } as const;
  const startWorker = async () => {
    // The options may have changed by the next start.
    const worker = await createSandflowWorker({ ...workerOptions, ...options.worker });
    const running = worker.run();
    return {
      async drain() {
        worker.shutdown();
        await running;
      },
    };
  };
  let worker = await startWorker();

  return {
    service,
    api,
    client,
    bridge,
    bridgeUrl,
    results,
    resultsDirectory: join(directory, 'results'),
    taskQueue,
    async fault(fault) {
      const answer = await fetch(`${service.adminUrl}/faults`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(fault),
      });
      if (!answer.ok) throw new Error(`The fault was refused: ${await answer.text()}`);
    },
    start(over, { taskQueue: of = taskQueue } = {}) {
      const input = jobInput(over);
      return client.workflow.start<typeof createThenPrompt>('createThenPrompt', {
        workflowId: jobWorkflowId(input.deployment, input.jobId),
        taskQueue: of,
        args: [input],
      });
    },
    async restartWorker(meanwhile) {
      await worker.drain();
      await meanwhile?.();
      worker = await startWorker();
    },
    async close() {
      await worker.drain();
      await bridge.close();
      await api.close();
      await service.close();
      await connection.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
