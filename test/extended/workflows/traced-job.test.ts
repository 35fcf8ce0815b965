/**
 * A job whose caller, worker and bridge have OpenTelemetry, as docs/traces.md says. The service of the test sends the context of
 * the last call with its deliveries. Costs the bundling of the workflows.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { Pool } from 'undici';
import { expect, inject, it } from 'vitest';
import { createActivities, createFollowActivities } from '../../../activities/index.js';
import { createLocalService } from '../../../local-service/src/index.js';
import { followTaskQueue } from '../../../src/addresses/addresses.js';
import { createBridge, createSecretSource, ensureWebhook, webhookPath } from '../../../src/bridge/index.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { unencryptedBundle } from '../../../src/worker/index.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { inCaller, recordSpans } from '../../unit/tracing/recorded-spans.js';
import { script } from '../../workflows/workflow-harness.js';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const apiKey = 'test-key';

interface Call {
  readonly call: string;
  readonly traceparent: string | undefined;
}

it('one trace goes from the caller to the job, its calls, their webhooks, and the calls of the job that these wake', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-traced-'));
  const recorded = recordSpans();
  const calls: Call[] = [];
  const service = await createLocalService({
    ...{ directory: join(directory, 'service'), apiKey, isolation: 'plain', log: () => undefined },
    timings: { bootMs: 100, archiveMs: 50 },
  });
  const { url } = await service.listen();
  const api = createSandboxClient({ baseUrl: url, apiKey });
  const dispatcher = new Pool(new URL(url).origin).compose((dispatch) => (options, handler) => {
    const { traceparent } = options.headers as Record<string, string | undefined>;
    calls.push({ call: `${options.method} ${options.path}`, traceparent });
    return dispatch(options, handler);
  });
  const traced = createSandboxClient({ baseUrl: url, apiKey, dispatcher });

  const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
  const interceptors = { workflow: [new OpenTelemetryWorkflowClientInterceptor()] };
  const client = new Client({ connection, interceptors });
  const secretFile = join(directory, 'secrets');
  const fixed = [`whsec_${randomBytes(32).toString('base64')}`];
  const bridge = createBridge({ temporalClient: client, secrets: createSecretSource({ fixed, file: secretFile }) });
  const sender = createServer((request, response) => {
    const traceparent = calls.findLast((call) => call.traceparent)?.traceparent;
    if (traceparent) request.headers.traceparent = traceparent;
    bridge.handler(request, response);
  });
  await new Promise<void>((resolve) => void sender.listen(0, '127.0.0.1', resolve));
  const { port } = sender.address() as AddressInfo;
  await ensureWebhook(api, { url: `http://127.0.0.1:${port}${webhookPath}`, name: 'test', secretFile });

  const taskQueue = `traced-${randomBytes(4).toString('hex')}`;
  const results = createResultStore(join(directory, 'results'));
  const dependencies = { client: traced, results, taskQueue, follow: { minIntervalMs: 100 } };
  const workflowBundle = await bundleWorkflowCode({
    ...{
      ...unencryptedBundle,
      workflowsPath: pathOf('../../../workflows/index.ts'),
      logger: new DefaultLogger('WARN'),
    },
    workflowInterceptorModules: [
      ...unencryptedBundle.workflowInterceptorModules,
      pathOf('../../../node_modules/@temporalio/interceptors-opentelemetry/lib/workflow-interceptors.js'),
    ],
  });
  const activity = [
    (context: ConstructorParameters<typeof OpenTelemetryActivityInboundInterceptor>[0]) => ({
      inbound: new OpenTelemetryActivityInboundInterceptor(context),
    }),
  ];
  const workers = [
    await Worker.create({
      ...{ connection, taskQueue: followTaskQueue(taskQueue), activities: createFollowActivities(dependencies) },
      interceptors: { activity },
    }),
    await Worker.create({
      ...{
        connection,
        taskQueue,
        workflowBundle,
        activities: createActivities(dependencies),
        interceptors: { activity },
      },
      sinks: { exporter: makeWorkflowExporter(recorded.processor, recorded.resource) },
    }),
  ];
  const running = workers.map((worker) => worker.run());
  try {
    const job = { deployment: 'test', jobId: `traced-${randomBytes(4).toString('hex')}` };
    const prompts = [{ prompt: script('echo hello') }];
    const { traceId, value } = await inCaller(async () => {
      const { handle } = await startJob(client, { ...job, prompts }, { taskQueue });
      return handle.result();
    });
    expect(value).toMatchObject({
      outcome: 'completed',
      wakes: expect.arrayContaining([expect.objectContaining({ by: 'webhook' })]),
    });

    const ofTrace = recorded.spans().filter((span) => span.spanContext().traceId === traceId);
    const names = ofTrace.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['caller', 'StartWorkflow:createThenPrompt', 'StartActivity:createSandbox', 'RunActivity:createSandbox'],
        ...['webhook delivery', 'SignalWorkflow:sandboxEvent', 'HandleSignal:sandboxEvent'],
        ...['RunActivity:sendAndFollowPrompt', 'RunActivity:stopSandbox'],
      ]),
    );
    const spanOf = (name: string) => ofTrace.find((span) => span.name === name)?.spanContext().spanId;
    const sent = calls.find(({ call }) => call.startsWith('POST') && call.endsWith('/prompt'));
    expect(sent?.traceparent).toBe(`00-${traceId}-${spanOf('RunActivity:sendAndFollowPrompt')}-01`);
    expect(calls.filter(({ traceparent }) => !traceparent?.startsWith(`00-${traceId}-`))).toEqual([]);
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
    await bridge.close();
    await new Promise((resolve) => sender.close(resolve));
    await Promise.all([traced, api].map((one) => one.close()));
    await service.close();
    await connection.close();
    recorded.end();
    await rm(directory, { recursive: true, force: true });
  }
});
