/** Reads from Temporal how jobs and items ended their sandboxes. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { itemIndexOf, ownedSandboxName, parseOwnedSandboxName } from '../../src/addresses/addresses.js';
import type { EndpointName } from '../../src/contract/endpoints/endpoints.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { splitCalls } from '../../src/protocol/counted-result.js';
import { type EndedSandbox, endedSandboxId } from '../../src/protocol/ended-sandbox.js';
import type { ItemSummary } from '../../src/protocol/fanout/fanout-result.js';
import { resolveUpdate, workflowTypes } from '../../src/protocol/messages.js';
import { lastEnd, type SandboxEnd } from '../../src/retention/index.js';
import { isNotFound } from '../../src/temporal/errors.js';
import { readPayloads } from '../../src/temporal/read-payloads.js';
import { lenientClient, memoOf } from '../../src/temporal/readable-memos.js';

const rowsPerPage = 1_000;

/**
 * The last end of each sandbox by a job of any deployment of the namespace: the job may have been given the sandbox, and
 * only a list finds such a job. A list lags by a few seconds.
 * @param options.sinceMs only jobs that ended at or after this time, in ms since the epoch. Default: all
 * @throws the reason of the signal
 */
export async function readLastEnds(
  client: Client,
  { sinceMs, signal }: { readonly sinceMs?: number; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, SandboxEnd>> {
  const query = [`WorkflowType = '${workflowTypes.createThenPrompt}'`, `ExecutionStatus != 'Running'`];
  if (sinceMs !== undefined) query.push(`CloseTime >= '${new Date(sinceMs).toISOString()}'`);
  const last = new Map<string, SandboxEnd>();
  const rows = lenientClient(client).workflow.list({ query: query.join(' AND '), pageSize: rowsPerPage });
  for await (const row of rows) {
    signal.throwIfAborted();
    for (const end of endsIn(row)) {
      const before = last.get(end.sandboxId);
      const newest = lastEnd(before ? [before, end] : [end]);
      if (newest) last.set(end.sandboxId, newest);
    }
  }
  return last;
}

/** What the memo of a closed execution tells. */
export function endsIn(run: Pick<WorkflowExecutionInfo, 'workflowId' | 'closeTime' | 'memo'>): SandboxEnd[] {
  const { workflowId, closeTime, memo } = run;
  const readable = memoOf(memo).memo;
  return Object.keys(memo ?? {}).flatMap((key): SandboxEnd[] => {
    const sandboxId = endedSandboxId(key);
    if (sandboxId === undefined) return [];
    const ended = (readable[key] as EndedSandbox | undefined) ?? null;
    return [{ sandboxId, workflowId, atMs: ended?.endedAtMs ?? closeTime?.getTime() ?? 0, ended }];
  });
}

export interface ClosedExecution {
  readonly runId: string;
  readonly status: string;
  readonly closedAtMs: number;
  /** What its memo tells. */
  readonly ends: readonly SandboxEnd[];
}

/**
 * The sandboxes that an execution knew at its end. The memo of an item tells only which fork it kept; its summary tells
 * the rest. If an execution told nothing, the histories of its runs show which creates were answered. If Temporal has
 * dropped one of them, an unreadable end stands for what it may have shown.
 * @param name of a sandbox of the job or item
 */
export async function endsOf(
  client: Client,
  owner: { readonly workflowId: string; readonly name: string },
  closed: ClosedExecution,
): Promise<readonly SandboxEnd[]> {
  if (closed.ends.length > 0) return closed.ends;
  const { workflowId } = owner;
  const { closedAtMs: endedAtMs } = closed;
  const unreadableEnd = { workflowId, atMs: endedAtMs, sandboxId: '', ended: null };
  try {
    if (itemIndexOf(workflowId) !== undefined && closed.status === 'COMPLETED') {
      return await endsOfItem(client, owner, { closed, unreadableEnd });
    }
    const created = await createdBy(client, workflowId, closed.runId);
    return created.map((sandbox) => {
      if (sandbox === null) return unreadableEnd;
      return { ...unreadableEnd, sandboxId: sandbox.id, ended: { name: sandbox.name, end: 'left', endedAtMs } };
    });
  } catch (error) {
    if (isNotFound(error)) return [unreadableEnd];
    throw error;
  }
}

/** What the summary of a completed item tells. */
async function endsOfItem(
  client: Client,
  { workflowId, name }: { readonly workflowId: string; readonly name: string },
  { closed, unreadableEnd }: { readonly closed: ClosedExecution; readonly unreadableEnd: SandboxEnd },
): Promise<readonly SandboxEnd[]> {
  const parts = parseOwnedSandboxName(name);
  const handle = lenientClient(client).workflow.getHandle(workflowId, closed.runId, { followRuns: false });
  const { memo, unreadable } = memoOf({ summary: await handle.result() });
  if (unreadable !== null) return [unreadableEnd];
  const { sandboxId, generation, endedAsAsked } = memo.summary as ItemSummary;
  if (sandboxId === null || !parts) return [];
  const end = endedAsAsked ? 'stopped' : 'left';
  const ended = { name: ownedSandboxName({ ...parts, generation }), end, endedAtMs: closed.closedAtMs } as const;
  return [{ ...unreadableEnd, sandboxId, ended }];
}

const creates: ReadonlySet<string> = new Set<EndpointName>(['createSandbox', 'forkSandbox']);

/**
 * The answers to the creates and forks of all runs of an execution; null for what cannot be read. A run that was
 * continued as new leaves its creates to the next one, and a person may have named a sandbox.
 * @param runId of the last run
 * @throws an error of Temporal; see `isNotFound` if it has dropped a run
 */
async function createdBy(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<readonly (Pick<SandboxView, 'id' | 'name'> | null)[]> {
  const lenient = lenientClient(client);
  const answers: Payload[] = [];
  let isNamed = false;
  for (let id: string | null | undefined = runId; id; ) {
    const { events } = await lenient.workflow.getHandle(workflowId, id).fetchHistory();
    const asked = new Set<string>();
    for (const { eventId, activityTaskScheduledEventAttributes: scheduled, ...event } of events ?? []) {
      if (creates.has(scheduled?.activityType?.name ?? '')) asked.add(String(eventId));
      const { scheduledEventId, result } = event.activityTaskCompletedEventAttributes ?? {};
      if (asked.has(String(scheduledEventId))) answers.push(...(result?.payloads ?? []));
      const { acceptedRequest } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
      isNamed ||= acceptedRequest?.input?.name === resolveUpdate.name;
    }
    id = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
  const created = (await readPayloads(lenient, answers)).map((answer) => {
    const { memo } = memoOf({ answer });
    return (splitCalls(memo.answer).value as SandboxView | undefined) ?? null;
  });
  return isNamed ? [...created, null] : created;
}
