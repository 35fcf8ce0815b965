/**
 * Makes the trace of a job from its history, for as long as Temporal keeps that: no exporter has to run. What a job
 * knows of its waits and prompts is in its result; before that, a worker tells it.
 */
import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { SandflowError } from '../../errors/sandflow-error.js';
import { splitCalls } from '../../protocol/counted-result.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { JobResult } from '../../protocol/job/job-result.js';
import { leftRunningSignal } from '../../protocol/messages.js';
import { isNotFound } from '../../temporal/errors.js';
import { readPayloads } from '../../temporal/read-payloads.js';
import { describeJob, type JobAddress, jobProgress } from '../jobs/job-client.js';
import type { TraceSpan } from './span.js';

type Payloads = { readonly payloads?: readonly Payload[] | null } | null | undefined;
type Field = 'continuedExecutionRunId' | 'firstExecutionRunId' | 'scheduledEventId' | 'signalName' | 'startedEventId';
interface Failure {
  readonly applicationFailureInfo?: { readonly type?: string | null } | null;
  readonly timeoutFailureInfo?: object | null;
}
/** What is read of events. Each kind of event has some of these. */
interface Told extends Partial<Record<Field, string>>, Partial<Record<'failure' | 'lastFailure', Failure | null>> {
  readonly activityType?: { readonly name: string };
  readonly attempt?: number;
  readonly result?: Payloads;
  readonly workflowExecution?: { readonly workflowId: string; readonly runId: string };
  readonly workflowType?: { readonly name: string };
}
/** `at` is in ms since the epoch, `type` such as `activityTaskStarted`. */
interface Event extends Record<'run' | 'key' | 'type', string> {
  readonly at: number;
  readonly told: Told;
  readonly summary: Payloads;
}
type Reading = { readonly client: Client; readonly read: (from: Payloads) => Promise<unknown> };

/**
 * Reads the trace of the newest execution of a job. Needs a worker only if the job has no result.
 * @returns `isWhole`: false if nobody told of the waits and prompts
 * @throws SandflowError `job_not_found`, `not_a_job`
 */
export async function readJobTrace(client: Client, job: JobAddress): Promise<{ spans: TraceSpan[]; isWhole: boolean }> {
  // Its key may be gone. The rest is shown all the same.
  const read: Reading['read'] = async (from) => (await readPayloads(client, from?.payloads).catch(() => []))[0];
  const chain = await readChain(client, await describeJob(client, job));
  const result = (await read(chain.at(-1)?.told.result)) as JobResult | undefined;
  const known = result ?? (await jobProgress(client, job).catch(ifNoWorker));
  const [root, ...spans] = await chainSpans(chain, null, { client, read });
  if (!root || !known) return { spans: root ? [root, ...spans] : [], isWhole: false };
  const { jobId, outcome, sandboxId, apiCalls } = known;
  const code = outcome === null || outcome === 'completed' ? root.attributes.error : outcome;
  const error = ('error' in known && known.error?.code) || code;
  const attributes = { job: jobId, outcome, sandbox: sandboxId, calls: apiCalls, ...root.attributes, error };
  return { spans: [{ ...root, attributes }, ...spans, ...jobSpans(known, root)], isWhole: true };
}

function ifNoWorker(error: unknown): undefined {
  if (!(error instanceof SandflowError && error.code === 'no_worker')) throw error;
}

/** The events of all runs that Temporal still has. */
async function readChain(client: Client, { workflowId, runId }: NonNullable<Told['workflowExecution']>) {
  let chain: Event[] = [];
  for (let next: string | undefined = runId; next; next = chain[0]?.told.continuedExecutionRunId) {
    const run: string = next;
    const history = client.workflow.getHandle(workflowId, run).fetchHistory();
    const { events } = await history.catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return { events: null };
    });
    if (!events) return chain;
    const read = events.map(({ eventId, eventTime, userMetadata, ...rest }): Event => {
      const [name = '', told = {}] =
        Object.entries<Told>(Object(rest)).find(([field]) => field.endsWith('EventAttributes')) ?? [];
      const at = Number(eventTime?.seconds) * 1_000 + Number(eventTime?.nanos) / 1e6;
      const summary = userMetadata?.summary ? { payloads: [userMetadata.summary] } : null;
      return { run, key: `${run}/${eventId}`, at, type: name.replace('EventAttributes', ''), told, summary };
    });
    chain = [...read, ...chain];
  }
  return chain;
}

const endOfRun = /^workflowExecution(Completed|ContinuedAsNew|Failed|TimedOut|Canceled|Terminated)$/;
const endOfActivity = /^activityTask(Completed|Failed|TimedOut|Canceled)$/;
/** Waits are shown otherwise, and most of their timers end for nothing. */
const timerOfWait = /woken by a webhook|told by the follower/;

/** The code of a failure, and not its message, which may quote anything. */
const codeOf = ({ applicationFailureInfo, timeoutFailureInfo }: Failure) =>
  applicationFailureInfo?.type || (timeoutFailureInfo ? 'timeout' : 'failed');

/** The span of a workflow, and of what its history shows. */
async function chainSpans(chain: readonly Event[], parent: string | null, reading: Reading): Promise<TraceSpan[]> {
  const [first, last] = [chain[0], chain.at(-1)];
  if (!first || !last) return [];
  const errorOf = (end: Event | undefined, pattern: RegExp) => {
    const [, how = 'Completed'] = pattern.exec(end?.type ?? '') ?? [];
    if (end?.told.failure) return codeOf(end.told.failure);
    return how === 'Completed' || how === 'ContinuedAsNew' ? null : how.toLowerCase();
  };
  const key = `${first.told.firstExecutionRunId}/1`;
  const ended = endOfRun.test(last.type) ? last.at : null;
  const name = first.told.workflowType?.name ?? '';
  const attributes = { run: last.run, error: errorOf(last, endOfRun) };
  const root: TraceSpan = { key, parent, kind: 'workflow', name, startedAt: first.at, endedAt: ended, attributes };
  const spans = [root];
  const events = new Map(chain.map((event) => [event.key, event]));
  const endOf = new Map(chain.map(({ run, at }) => [run, at]));
  const ofActivity = (pattern: RegExp) =>
    new Map(
      chain.filter(({ type }) => pattern.test(type)).map((one) => [`${one.run}/${one.told.scheduledEventId}`, one]),
    );
  const [starts, ends] = [ofActivity(/^activityTaskStarted$/), ofActivity(endOfActivity)];
  let followed: Event | undefined;
  for (const event of chain) {
    const { told, type, at } = event;
    const of = events.get(`${event.run}/${told.scheduledEventId ?? told.startedEventId}`);
    if (endOfActivity.test(type) && of?.told.activityType?.name === 'followPrompt') followed = event;
    if (told.signalName === leftRunningSignal.name && followed) {
      const times = { startedAt: followed.at, endedAt: at, attributes: { ended_by: 'follower' } };
      spans.push({ key: event.key, parent: key, kind: 'wait', name: 'wait prompt', ...times });
    }
    if (type === 'childWorkflowExecutionStarted' && told.workflowExecution) {
      spans.push(...(await chainSpans(await readChain(reading.client, told.workflowExecution), key, reading)));
    }
    if (type === 'timerFired' && of) {
      const text = String((await reading.read(of.summary)) ?? '');
      const times = { startedAt: of.at, endedAt: at, attributes: { for: text } };
      if (!timerOfWait.test(text)) spans.push({ key: event.key, parent: key, kind: 'timer', name: 'timer', ...times });
    }
    if (type !== 'activityTaskScheduled') continue;
    const [start, end] = [starts.get(event.key), ends.get(event.key)];
    const isOpen = ended === null && event.run === last.run;
    const { attempt = 1, lastFailure } = start?.told ?? {};
    const attributes = {
      calls: splitCalls(await reading.read(end?.told.result)).calls || null,
      ...(attempt > 1 && { attempts: attempt, retried_after: lastFailure && codeOf(lastFailure) }),
      error: errorOf(end, endOfActivity),
    };
    spans.push({
      ...{ key: event.key, parent: key, kind: 'activity', name: told.activityType?.name ?? '', attributes },
      ...{ startedAt: at, begunAt: start?.at, endedAt: end?.at ?? (isOpen ? null : (endOf.get(event.run) ?? null)) },
    });
  }
  return spans;
}

/** What a job tells of itself: its waits, its prompts and the end of its sandbox. */
function jobSpans(known: JobResult | JobProgress, root: TraceSpan): TraceSpan[] {
  // The last wake of a wait has ended it.
  const waits = new Map(known.wakes.map((wake) => [`${wake.waitedFor} ${Date.parse(wake.at) - wake.waitedMs}`, wake]));
  const stopping = known.phases.findLast(({ phase }) => phase === 'stopping' || phase === 'deleting');
  const { stop = null, deletion = null } = 'stop' in known ? known : {};
  const { status, error } = stop ?? deletion ?? {};
  const spans: TraceSpan[] = [];
  const add = (span: Pick<TraceSpan, 'kind' | 'name' | 'startedAt' | 'endedAt' | 'attributes'>) =>
    spans.push({ ...span, key: `${span.name} ${span.kind === 'wait' ? span.startedAt : ''}`, parent: root.key });
  for (const { waitedFor, by, event, lagMs, waitedMs, at } of waits.values()) {
    const times = { startedAt: Date.parse(at) - waitedMs, endedAt: Date.parse(at) };
    add({ kind: 'wait', name: `wait ${waitedFor}`, ...times, attributes: { ended_by: by, event, lag_ms: lagMs } });
  }
  for (const [index, { status, promptId, conversationId, ...times }] of known.prompts.entries()) {
    const isOpen = status === 'queued' || status === 'running';
    // The job does not read the times of a prompt while that runs.
    const startedAt = Date.parse(times.queuedAt ?? times.startedAt ?? (isOpen && 'since' in known ? known.since : ''));
    const endedAt = times.endedAt === null ? root.endedAt : Date.parse(times.endedAt);
    const failed = isOpen || status === 'completed' ? null : status;
    const attributes = { prompt: promptId, conversation: conversationId, error: failed };
    if (startedAt) add({ kind: 'prompt', name: `prompt ${index + 1}`, startedAt, endedAt, attributes });
  }
  if (stopping) {
    const name = stopping.phase === 'stopping' ? 'stop' : 'delete';
    const ids = { id: stop?.stopId ?? deletion?.operationId, end: status, kept: stop?.kept };
    const times = { startedAt: Date.parse(stopping.at), endedAt: root.endedAt };
    add({ kind: 'stop', name, ...times, attributes: { ...ids, error: error ? status : null } });
  }
  return spans;
}
