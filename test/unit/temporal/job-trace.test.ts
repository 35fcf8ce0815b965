/** The traces of the recorded histories. The server here knows them as Temporal does; no worker answers it. */
import { readFileSync } from 'node:fs';
import { Client, type Connection } from '@temporalio/client';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';
import { waterfall } from '../../../src/cli/jobs/show-trace.js';
import { readJobTrace } from '../../../src/workflow-client/traces/job-trace.js';
import { otlpRequest } from '../../../src/workflow-client/traces/span.js';

type Json = Readonly<Record<string, unknown>>;
interface RecordedEvent extends Json {
  readonly eventId?: string;
  readonly workflowExecutionStartedEventAttributes?: { readonly firstExecutionRunId: string };
}

const recorded = (name: string) =>
  (
    JSON.parse(readFileSync(new URL(`../../histories/${name}.json`, import.meta.url), 'utf8')) as {
      readonly events: readonly RecordedEvent[];
    }
  ).events;
const firstRunOf = ([first]: readonly RecordedEvent[]) =>
  first?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? '';
const notFound = Object.assign(new Error('not found'), { code: 5, details: 'not found', metadata: { get: () => [] } });
const unpolled = Object.assign(new Error('no poller'), { code: 9, details: 'no poller', metadata: { get: () => [] } });

/** @param runs the events of each run, by run id; the last one is the newest */
function serverWith(runs: Readonly<Record<string, readonly Json[]>>) {
  const newest = Object.keys(runs).at(-1) ?? '';
  const isClosed = runs[newest]?.some((event) => 'workflowExecutionCompletedEventAttributes' in event);
  const description = {
    workflowExecutionInfo: {
      execution: { workflowId: 'sf-test-traced', runId: newest },
      ...{ type: { name: 'createThenPrompt' }, status: isClosed ? 2 : 1, startTime: { seconds: 1 } },
    },
  };
  const { DescribeWorkflowExecutionResponse } = proto.temporal.api.workflowservice.v1;
  const workflowService = {
    describeWorkflowExecution: async () => DescribeWorkflowExecutionResponse.fromObject(description),
    queryWorkflow: () => Promise.reject(unpolled),
    async getWorkflowExecutionHistory({ execution }: { readonly execution: { readonly runId?: string } }) {
      const events = runs[execution.runId ?? newest];
      if (!events) throw notFound;
      return { history: historyFromJSON({ events }), nextPageToken: null };
    },
  };
  const connection = {
    ...{ workflowService, plugins: [] },
    withDeadline: (_: number, call: () => Promise<unknown>) => call(),
  } as unknown as Connection;
  return new Client({ connection });
}

const job = { deployment: 'test', jobId: 'traced' };
type Spans = Awaited<ReturnType<typeof readJobTrace>>['spans'];
const spansOf = async (name: string) =>
  (await readJobTrace(serverWith({ [firstRunOf(recorded(name))]: recorded(name) }), job)).spans;
const ofKind = (spans: Spans, wanted: string) => spans.filter(({ kind }) => kind === wanted);
const namesOf = (spans: Spans) => spans.map(({ name }) => name);
const exported = (spans: Spans) => otlpRequest(spans, {}).resourceSpans[0]?.scopeSpans[0]?.spans ?? [];

describe('the trace of a job', () => {
  it('is drawn as rows under the workflow, in the order of their starts', async () => {
    const drawn = waterfall(await spansOf('completed'), { width: 110, paint: (_, text) => text, nowMs: 0 });
    expect(drawn).toMatchInlineSnapshot(`
      "SPAN                   WHEN                                 FOR     TRACE dbf5f7982b045e1c2f24838b86d26788
      createThenPrompt       ███████████████████████████████████  1.3 s   job=job-6e310688dd outcome=completed sand…
        createSandbox               ██                            80 ms   calls=1
        wait usable                   ▒▒▒▒▒▒▒                     239 ms  ended_by=webhook event=sandbox.ready lag_…
        sendAndFollowPrompt                    █████              197 ms  calls=2
        prompt 1                                ██                69 ms   prompt=prm_d622da398638793d09a41e0a conve…
        stop                                        ████████████  420 ms  id=stop_f5019fc12189dc2e75ff2a6a end=comp…
        stopSandbox                                   █           49 ms   calls=2
        wait archived                                  ▒▒▒▒▒      181 ms  ended_by=webhook event=sandbox.archived l…
        getSandbox                                           █    32 ms   calls=1
      "
    `);
  });

  it('tells what ended each wait: a webhook, or the follower of prompts', async () => {
    const waits = ofKind(await spansOf('handed-over'), 'wait');
    expect(waits.map(({ name, attributes }) => [name, attributes.ended_by])).toEqual([
      ['wait prompt', 'follower'],
      ['wait usable', 'webhook'],
      ['wait archived', 'webhook'],
    ]);
    expect(waits.at(-1)?.attributes).toMatchObject({ event: 'sandbox.archived', lag_ms: 15 });
  });

  it('shows the timers that held the job up, and not those of the waits', async () => {
    const timers = ofKind(await spansOf('outcome_unknown'), 'timer').map(({ attributes }) => attributes.for);
    expect(timers).toEqual(timers.map(() => 'prompt: waiting for evidence or for "jobs resolve"'));
    expect(timers).toHaveLength(4);
    expect(ofKind(await spansOf('completed'), 'timer')).toEqual([]);
  });

  it('names failures by their code, in the activity and in the job', async () => {
    const failed = (await spansOf('rejected')).filter(({ attributes }) => attributes.error);
    expect(failed.map(({ name, attributes }) => [name, attributes.error])).toEqual([
      ['createThenPrompt', 'invalid_request'],
      ['sendAndFollowPrompt', 'invalid_request'],
    ]);
    expect(exported(failed).map(({ status }) => status)).toEqual(
      failed.map(() => ({ code: 2, message: 'invalid_request' })),
    );
  });

  it('tells how often an activity was tried, and after which failure again', async () => {
    const text = JSON.stringify(recorded('completed'));
    const lastFailure = { message: 'secret words', applicationFailureInfo: { type: 'unavailable' } };
    const again = `"scheduledEventId":"6",${JSON.stringify({ attempt: 4, lastFailure }).slice(1, -1)},"x":`;
    const events = JSON.parse(
      text
        .replace('"activityTaskStartedEventAttributes":{', `"activityTaskStartedEventAttributes":{${again}0,`)
        .replace('"attempt":1,"workerVersion"', '"workerVersion"'),
    ) as RecordedEvent[];
    const { spans } = await readJobTrace(serverWith({ [firstRunOf(events)]: events }), job);
    expect(spans.find(({ name }) => name === 'createSandbox')?.attributes).toMatchObject({
      attempts: 4,
      retried_after: 'unavailable',
    });
    expect(JSON.stringify(spans)).not.toContain('secret words');
  });

  it.each(['completed', 'rejected', 'prompt_failed', 'cancelled', 'deadline_exceeded', 'completed-existing'])(
    'of %s holds no prompt, no answer and no message of an error',
    async (name) => {
      const text = JSON.stringify(await spansOf(name));
      for (const content of ['Please run', 'echo hello', 'hello\\n', 'is not a provider', '"hi"']) {
        expect(text).not.toContain(content);
      }
    },
  );

  it('has the same ids in each export, and others than another job', async () => {
    const idsOf = async (name: string) =>
      exported(await spansOf(name)).map(({ traceId, spanId }) => `${traceId}/${spanId}`);
    const ids = await idsOf('completed');
    expect(new Set(ids).size).toBe(ids.length);
    expect(await idsOf('completed')).toEqual(ids);
    expect((await idsOf('cancelled')).filter((id) => ids.includes(id))).toEqual([]);
  });

  it('goes over all runs of a job that continued as new, as far as Temporal has them', async () => {
    const events = recorded('completed');
    const first = firstRunOf(events);
    const at = events.findIndex(({ eventId }) => eventId === '12');
    const [begin] = events;
    const second = {
      ...begin,
      workflowExecutionStartedEventAttributes: {
        ...begin?.workflowExecutionStartedEventAttributes,
        continuedExecutionRunId: first,
      },
    };
    const cut = {
      ...{ eventId: '12', eventTime: events[at]?.eventTime },
      workflowExecutionContinuedAsNewEventAttributes: { taskQueue: {} },
    };
    const later = [second, ...events.slice(at)];
    const whole = await readJobTrace(serverWith({ [first]: [...events.slice(0, at), cut], second: later }), job);
    expect(whole.spans[0]).toMatchObject({ key: `${first}/1`, attributes: { run: 'second' } });
    expect(namesOf(ofKind(whole.spans, 'activity'))).toEqual(namesOf(ofKind(await spansOf('completed'), 'activity')));
    const rest = await readJobTrace(serverWith({ second: later }), job);
    expect(namesOf(rest.spans)).not.toContain('createSandbox');
    expect(exported(rest.spans)[0]?.traceId).toBe(exported(whole.spans)[0]?.traceId);
  });

  it('follows the children of the job', async () => {
    const events = recorded('completed');
    const child = recorded('delivery');
    const started = {
      ...{ eventId: '99', eventTime: events[1]?.eventTime },
      childWorkflowExecutionStartedEventAttributes: {
        workflowExecution: { workflowId: 'delivery', runId: 'of-delivery' },
      },
    };
    const runs = { 'of-delivery': child, [firstRunOf(events)]: [...events.slice(0, -1), started, ...events.slice(-1)] };
    const { spans } = await readJobTrace(serverWith(runs), job);
    const ofChild = spans.find(({ name }) => name === 'deliverNotification');
    expect(ofChild?.parent).toBe(spans[0]?.key);
    expect(spans.filter(({ parent }) => parent === ofChild?.key).map(({ name }) => name)).toContain('notify');
    const { [firstRunOf(events)]: alone = [] } = runs;
    const without = await readJobTrace(serverWith({ [firstRunOf(events)]: alone }), job);
    expect(namesOf(without.spans)).not.toContain('deliverNotification');
  });

  it('of a running job exports what has ended, and says that nobody told of its waits', async () => {
    const events = recorded('completed').slice(0, 6);
    const { spans, isWhole } = await readJobTrace(serverWith({ [firstRunOf(events)]: events }), job);
    expect(isWhole).toBe(false);
    expect(namesOf(spans)).toEqual(['createThenPrompt', 'createSandbox']);
    expect(exported(spans)).toEqual([]);
    const nowMs = (spans[0]?.startedAt ?? 0) + 5_000;
    expect(waterfall(spans, { width: 80, paint: (_, text) => text, nowMs })).toContain('5.0 s …');
  });

  it('shows the rest if payloads cannot be read', async () => {
    const encoding = (name: string) => Buffer.from(name).toString('base64');
    const text = JSON.stringify(recorded('completed')).replaceAll(encoding('json/plain'), encoding('another/one'));
    const events = JSON.parse(text) as RecordedEvent[];
    const { spans, isWhole } = await readJobTrace(serverWith({ [firstRunOf(events)]: events }), job);
    expect(isWhole).toBe(false);
    expect(namesOf(spans)).toContain('stopSandbox');
  });
});

it('an export is a request of OTLP: times and whole numbers are texts, ids are in hex', async () => {
  const { resourceSpans } = otlpRequest(await spansOf('completed'), { 'service.name': 'sandflow' });
  const [{ resource, scopeSpans } = { resource: null, scopeSpans: [] }] = resourceSpans;
  expect(resource).toEqual({ attributes: [{ key: 'service.name', value: { stringValue: 'sandflow' } }] });
  const [root, create] = scopeSpans[0]?.spans ?? [];
  expect(root).toMatchObject({ name: 'createThenPrompt', startTimeUnixNano: '1795659444949669000', status: {} });
  expect(root?.parentSpanId).toBeUndefined();
  expect(create).toMatchObject({
    ...{ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), spanId: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ...{ parentSpanId: root?.spanId, kind: 1, events: [{ name: 'started' }] },
    attributes: [{ key: 'sandflow.calls', value: { intValue: '1' } }],
  });
});
