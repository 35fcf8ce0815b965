/** Looks up the owner of a sandbox in Temporal. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { executionOf } from '../../src/addresses/addresses.js';
import {
  type KnownOfSandbox,
  type OwnerSeen,
  type Ownership,
  type OwnerToAsk,
  ownershipOf,
  ownerToAsk,
  type SandboxEnd,
} from '../../src/retention/index.js';
import { describeIfThere, lenientClient } from '../../src/temporal/readable-memos.js';
import { type ClosedExecution, endsIn, endsOf } from './sandbox-ends.js';

/** Any other status, even one that is unknown today, counts as open. */
const closed: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);
/** Limit of the earlier executions of a workflow id that are searched. */
const earlierExecutions = 200;

type Named = Parameters<typeof ownershipOf>[0];

/**
 * Looks up the owners of sandboxes, with a cache for one plan: sandboxes of one job share their owner. Uses describe,
 * because a list lags.
 */
export function createOwnerReader(client: Client, deployment: string) {
  const seen = new Map<string, Promise<OwnerSeen | undefined>>();
  return async (sandbox: Named, known?: KnownOfSandbox): Promise<Ownership> => {
    const owner = ownerToAsk(sandbox.name, deployment);
    if (!owner) return ownershipOf(sandbox, deployment, undefined, known);
    const key = `${owner.itemWorkflowId ?? owner.workflowId} ${owner.execution}`;
    const answer = seen.get(key) ?? ownerSeen(client, owner, sandbox.name ?? '');
    seen.set(key, answer);
    return ownershipOf(sandbox, deployment, await answer, known);
  };
}

/** @param name of a sandbox of this owner */
async function ownerSeen(client: Client, owner: OwnerToAsk, name: string): Promise<OwnerSeen | undefined> {
  const { workflowId, execution, itemWorkflowId } = owner;
  const newest = await describe(client, workflowId);
  if (newest === undefined) return undefined;
  const item = itemWorkflowId === undefined ? undefined : await describe(client, itemWorkflowId);
  if ([newest, item].some((seen) => seen !== undefined && !closed.has(seen.status))) {
    return { isOpen: true, closedFirstRunIds: [] };
  }
  // Temporal drops an item before its batch. Whether the item kept its fork on purpose is then unknown.
  if (itemWorkflowId !== undefined && item === undefined) return undefined;
  const isNewest = executionOf(newest.firstRunId) === execution;
  const closedFirstRunIds = isNewest
    ? [newest.firstRunId]
    : await earlierFirstRunIds(client, { workflowId, execution });
  const own = { workflowId: itemWorkflowId ?? workflowId, name };
  // An earlier generation of an item may have kept its own fork.
  const isAll = item === undefined && isNewest;
  const ends = await (isAll ? endsOf(client, own, newest) : endsOfAll(client, own, item ?? newest));
  return { isOpen: false, closedFirstRunIds, ends };
}

/** What the executions of a workflow id knew at their ends. A list lags, so `newest` comes from describe. */
async function endsOfAll(
  client: Client,
  own: { readonly workflowId: string; readonly name: string },
  newest: Described,
): Promise<readonly SandboxEnd[]> {
  const ends = [...(await endsOf(client, own, newest))];
  let looked = 0;
  for await (const run of lenientClient(client).workflow.list({ query: `WorkflowId = '${own.workflowId}'` })) {
    looked += 1;
    if (looked > earlierExecutions) break;
    if (run.runId !== newest.runId) ends.push(...(await endsOf(client, own, closedExecution(run))));
  }
  return ends;
}

function closedExecution(run: Omit<WorkflowExecutionInfo, 'raw'>): ClosedExecution {
  const { runId, status, closeTime } = run;
  return { runId, status: status.name, closedAtMs: closeTime?.getTime() ?? 0, ends: endsIn(run) };
}

/** Finds the matching earlier execution of a reused workflow id by a list, and confirms it by describe. */
async function earlierFirstRunIds(
  client: Client,
  { workflowId, execution }: Pick<OwnerToAsk, 'workflowId' | 'execution'>,
): Promise<string[]> {
  const query = `WorkflowId = '${workflowId}'`;
  let looked = 0;
  for await (const { runId } of lenientClient(client).workflow.list({ query, pageSize: earlierExecutions })) {
    looked += 1;
    if (looked > earlierExecutions) break;
    if (executionOf(runId) !== execution) continue;
    const found = await describe(client, workflowId, runId);
    // The execution chain of this run has ended, because a later execution has the same id and has ended too.
    const hasEnded = found !== undefined && (closed.has(found.status) || found.status === 'CONTINUED_AS_NEW');
    if (hasEnded && executionOf(found.firstRunId) === execution) return [found.firstRunId];
  }
  return [];
}

interface Described extends ClosedExecution {
  readonly firstRunId: string;
}

async function describe(client: Client, workflowId: string, runId?: string): Promise<Described | undefined> {
  const seen = await describeIfThere(client, workflowId, runId);
  return seen && { ...closedExecution(seen), firstRunId: seen.raw.workflowExecutionInfo?.firstRunId ?? '' };
}
