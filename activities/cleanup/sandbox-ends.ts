/** Reads from Temporal how jobs and items ended their sandboxes. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { itemIndexOf, ownedSandboxName, parseOwnedSandboxName } from '../../src/contract/workflow-safe/addresses.js';
import { type EndedSandbox, endedSandboxId } from '../../src/contract/workflow-safe/ended-sandbox.js';
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
  readonly status: string;
  readonly closedAtMs: number;
  /** What its memo tells. */
  readonly ends: readonly SandboxEnd[];
}

/**
 * How an execution ended its sandboxes. The memo of an item tells only which fork it kept; its summary tells the rest.
 * @param name of a sandbox of the job or item
 */
export async function endsOf(
  client: Client,
  { workflowId, name }: { readonly workflowId: string; readonly name: string },
  { runId, status, closedAtMs, ends }: ClosedExecution,
): Promise<readonly SandboxEnd[]> {
  const parts = parseOwnedSandboxName(name);
  if (itemIndexOf(workflowId) === undefined || status !== 'COMPLETED' || ends.length > 0 || !parts) return ends;
  const handle = lenientClient(client).workflow.getHandle(workflowId, runId, { followRuns: false });
  const { memo, unreadable } = memoOf({ summary: await handle.result() });
  const end = { workflowId, atMs: closedAtMs };
  if (unreadable !== null) return [{ ...end, sandboxId: '', ended: null }];
  const { sandboxId, generation, endedAsAsked } = memo.summary as ItemSummary;
  if (sandboxId === null) return [];
  const ended = { name: ownedSandboxName({ ...parts, generation }), end: endedAsAsked ? 'stopped' : 'left' } as const;
  return [{ ...end, sandboxId, ended }];
}
