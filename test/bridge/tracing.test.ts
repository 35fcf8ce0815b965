import { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { recordSpans } from '../unit/tracing/recorded-spans.js';
import { connectClient, deliver, eventBody, newOwned, startBridge } from './bridge-harness.js';

let temporal: Awaited<ReturnType<typeof connectClient>>;
let recorded: ReturnType<typeof recordSpans>;
beforeAll(async () => {
  temporal = await connectClient(inject('temporalAddress'));
});
afterEach(() => recorded.end());
afterAll(() => temporal.close());

/** Delivers an event for a waiting workflow. @returns the `traceparent` of the signal that it received */
async function signalledBy(headers: Record<string, string>): Promise<string | undefined> {
  const { connection, options } = temporal.client;
  const interceptors = { workflow: [new OpenTelemetryWorkflowClientInterceptor()] };
  const client = new Client({ connection, namespace: options.namespace, interceptors });
  const { name, workflowId } = newOwned();
  await temporal.startWaiting(workflowId);
  const bridge = await startBridge(client);
  expect((await deliver(bridge.url, eventBody({ name }), { headers })).status).toBe(200);
  await bridge.close();
  const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const signalled = events?.find((event) => event.workflowExecutionSignaledEventAttributes);
  const context = signalled?.workflowExecutionSignaledEventAttributes?.header?.fields?.['_tracer-data'];
  return context ? defaultPayloadConverter.fromPayload<{ traceparent?: string }>(context).traceparent : undefined;
}

it('the context of a delivery goes with its signals', async () => {
  recorded = recordSpans();
  const [traceId, sender] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const signalled = await signalledBy({ traceparent: `00-${traceId}-${sender}-01` });
  expect(signalled).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  const own = recorded.spans().find(({ name }) => name === 'webhook delivery');
  expect(own).toMatchObject({ parentSpanId: sender, attributes: { 'sandflow.event': 'sandbox.ready' } });
});

it('a delivery without a context is a trace of its own', async () => {
  recorded = recordSpans();
  const signalled = await signalledBy({});
  const own = recorded.spans().find(({ name }) => name === 'webhook delivery');
  expect(own?.parentSpanId).toBeUndefined();
  expect(signalled).toContain(`00-${own?.spanContext().traceId}-`);
});

it('without an SDK, signals carry no context', async () => {
  recorded = recordSpans();
  recorded.end();
  expect(await signalledBy({ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' })).toBeUndefined();
});
