/** Looks up the owner of a sandbox in Temporal. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { executionOf } from '../../src/contract/workflow-safe/addresses.js';
import type { KeptMemo } from '../../src/protocol/job/job-result.js';
import { type OwnerSeen, type Ownership, type OwnerToAsk, ownershipOf, ownerToAsk } from '../../src/retention/index.js';
import { lenientClient, memoOf } from '../../src/temporal/readable-memos.js';

/** Any other status, even one that is unknown today, counts as open. */
const closed: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);
/** Limit of the earlier executions of a workflow id that are searched. */
const earlierExecutions = 200;

/** Ids of kept sandboxes; null if a memo is unreadable: the owner is then unknown. */
type Kept = readonly string[] | null;
type Named = Parameters<typeof ownershipOf>[0];

/** Looks up the current owner of the sandbox with this name. Uses describe, because a list lags. */
export async function askOwner(client: Client, sandbox: Named, deployment: string): Promise<Ownership> {
  const owner = ownerToAsk(sandbox.name, deployment);
  return ownershipOf(sandbox, deployment, owner && (await ownerSeen(client, owner)));
}

/** Looks up owners, with a cache for one plan: sandboxes of one job share their owner. */
export function createOwnerReader(client: Client, deployment: string) {
  const seen = new Map<string, Promise<OwnerSeen | undefined>>();
  return async (sandbox: Named): Promise<Ownership> => {
    const owner = ownerToAsk(sandbox.name, deployment);
    if (!owner) return ownershipOf(sandbox, deployment, undefined);
    const key = `${owner.itemWorkflowId ?? owner.workflowId} ${owner.execution}`;
    const answer = seen.get(key) ?? ownerSeen(client, owner);
    seen.set(key, answer);
    return ownershipOf(sandbox, deployment, await answer);
  };
}

async function ownerSeen(client: Client, owner: OwnerToAsk): Promise<OwnerSeen | undefined> {
  const { workflowId, execution, itemWorkflowId } = owner;
  const newest = await describe(client, workflowId);
  if (newest === undefined) return undefined;
  const item = itemWorkflowId === undefined ? undefined : await describe(client, itemWorkflowId);
  if ([newest, item].some((seen) => seen !== undefined && !closed.has(seen.status))) {
    return { isOpen: true, closedFirstRunIds: [] };
  }
  // Temporal drops an item before its batch. Whether the item kept its fork on purpose is then unknown.
  if (itemWorkflowId !== undefined && item === undefined) return undefined;
  // An earlier generation of an item may have kept its own fork.
  const keptSandboxIds = await keptBy(client, { newest, item, itemWorkflowId });
  if (keptSandboxIds === null) return undefined;
  if (executionOf(newest.firstRunId) === execution) {
    return { isOpen: false, closedFirstRunIds: [newest.firstRunId], keptSandboxIds };
  }
  const earlier = await earlierFirstRunIds(client, { workflowId, execution });
  const keptEarlier = item === undefined ? await keptByAll(client, workflowId, newest.kept) : keptSandboxIds;
  return keptEarlier === null ? undefined : { isOpen: false, closedFirstRunIds: earlier, keptSandboxIds: keptEarlier };
}

async function keptBy(
  client: Client,
  {
    newest,
    item,
    itemWorkflowId = '',
  }: { newest: Described; item: Described | undefined; itemWorkflowId?: string | undefined },
): Promise<Kept> {
  return item === undefined ? newest.kept : keptByAll(client, itemWorkflowId, item.kept);
}

/** The sandboxes that the executions of a workflow id have kept. A list lags, so `newest` comes from describe. */
async function keptByAll(client: Client, workflowId: string, newest: Kept): Promise<Kept> {
  if (newest === null) return null;
  const kept = [...newest];
  let looked = 0;
  for await (const { memo } of lenientClient(client).workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    looked += 1;
    if (looked > earlierExecutions) break;
    const here = keptIn(memo);
    if (here === null) return null;
    kept.push(...here);
  }
  return kept;
}

function keptIn(memo: Record<string, unknown> | undefined): Kept {
  const { kept } = memoOf(memo).memo as Partial<KeptMemo>;
  if (kept === undefined && memo !== undefined && 'kept' in memo) return null;
  return typeof kept === 'string' ? [kept] : [];
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

interface Described {
  readonly status: string;
  readonly firstRunId: string;
  readonly kept: Kept;
}

async function describe(client: Client, workflowId: string, runId?: string): Promise<Described | undefined> {
  try {
    const { status, raw, memo } = await lenientClient(client).workflow.getHandle(workflowId, runId).describe();
    return { status: status.name, firstRunId: raw.workflowExecutionInfo?.firstRunId ?? '', kept: keptIn(memo) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
