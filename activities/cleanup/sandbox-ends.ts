/** Reads from Temporal how jobs and items ended their sandboxes. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { EndpointName } from '../../src/contract/endpoints/endpoints.js';
import { itemIndexOf, ownedSandboxName, parseOwnedSandboxName } from '../../src/contract/workflow-safe/addresses.js';
import { splitCalls } from '../../src/contract/workflow-safe/counted-result.js';
import { type EndedSandbox, endedSandboxId } from '../../src/contract/workflow-safe/ended-sandbox.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { ItemSummary } from '../../src/protocol/fanout/fanout-result.js';
import { workflowTypes } from '../../src/protocol/messages.js';
import { lastEnd, type SandboxEnd } from '../../src/retention/index.js';
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
export function endsIn({
  workflowId,
  closeTime,
  memo,
}: Pick<WorkflowExecutionInfo, 'workflowId' | 'closeTime' | 'memo'>): SandboxEnd[] {
  const readable = memoOf(memo).memo;
  return Object.keys(memo ?? {}).flatMap((key): SandboxEnd[] => {
    const sandboxId = endedSandboxId(key);
    if (sandboxId === undefined) return [];
    const ended = (readable[key] as EndedSandbox | undefined) ?? null;
    return [{ sandboxId, workflowId, atMs: closeTime?.getTime() ?? 0, ended }];
  });
}

export interface ClosedExecution {
  readonly runId: string;
  /** The first run of its chain, if known; it created the sandboxes. */
  readonly firstRunId?: string;
  readonly status: string;
  readonly closedAtMs: number;
  /** What its memo tells. */
  readonly ends: readonly SandboxEnd[];
}

/**
 * The sandboxes that an execution knew at its end. The memo of an item tells only which fork it kept; its summary tells
 * the rest. If an execution told nothing, its history shows which creates were answered.
 * @param name of a sandbox of the job or item
 */
export async function endsOf(
  client: Client,
  { workflowId, name }: { readonly workflowId: string; readonly name: string },
  closed: ClosedExecution,
): Promise<readonly SandboxEnd[]> {
  const { runId, firstRunId = runId, status, closedAtMs, ends } = closed;
  if (ends.length > 0) return ends;
  const end = { workflowId, atMs: closedAtMs };
  const unreadableEnd = { ...end, sandboxId: '', ended: null };
  if (itemIndexOf(workflowId) === undefined || status !== 'COMPLETED') {
    const created = await createdIn(client, { workflowId, runId: firstRunId });
    return created.map((sandbox) =>
      sandbox === null ? unreadableEnd : { ...end, sandboxId: sandbox.id, ended: { name: sandbox.name, end: 'left' } },
    );
  }
  const parts = parseOwnedSandboxName(name);
  const handle = lenientClient(client).workflow.getHandle(workflowId, runId, { followRuns: false });
  const { memo, unreadable } = memoOf({ summary: await handle.result() });
  if (unreadable !== null) return [unreadableEnd];
  const { sandboxId, generation, endedAsAsked } = memo.summary as ItemSummary;
  if (sandboxId === null || !parts) return [];
  const ended = { name: ownedSandboxName({ ...parts, generation }), end: endedAsAsked ? 'stopped' : 'left' } as const;
  return [{ ...end, sandboxId, ended }];
}

const creates: ReadonlySet<string> = new Set<EndpointName>(['createSandbox', 'forkSandbox']);

/** The answers to the creates and forks of a run; null for an answer that cannot be read. */
async function createdIn(
  client: Client,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): Promise<readonly (Pick<SandboxView, 'id' | 'name'> | null)[]> {
  const lenient = lenientClient(client);
  const { payloadCodecs, payloadConverter } = lenient.options.loadedDataConverter;
  const { events } = await lenient.workflow.getHandle(workflowId, runId).fetchHistory();
  const asked = new Set<string>();
  const answers: Payload[] = [];
  for (const { eventId, activityTaskScheduledEventAttributes: scheduled, ...event } of events ?? []) {
    if (creates.has(scheduled?.activityType?.name ?? '')) asked.add(String(eventId));
    const { scheduledEventId, result } = event.activityTaskCompletedEventAttributes ?? {};
    if (asked.has(String(scheduledEventId))) answers.push(...(result?.payloads ?? []));
  }
  let readable = answers;
  for (const codec of payloadCodecs) readable = await codec.decode(readable);
  return readable.map((payload) => {
    const { memo } = memoOf({ answer: payloadConverter.fromPayload(payload) });
    return (splitCalls(memo.answer).value as SandboxView | undefined) ?? null;
  });
}
