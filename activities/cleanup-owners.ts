/** Asks Temporal whose a sandbox is. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { executionOf } from '../src/contract/addresses.js';
import { type OwnerSeen, type Ownership, type OwnerToAsk, ownershipOf, ownerToAsk } from '../src/retention/index.js';
import type { KeptMemo } from '../workflows/steps/mark-kept.js';

/** Any other status, also one that is unknown today, counts as open. */
const closed: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);
/** How many earlier executions of an id are looked through. */
const earlierExecutions = 200;

type Describe = Pick<Client, 'workflow'>;
type Named = Parameters<typeof ownershipOf>[0];

/** Whose the sandbox of this name is now: by describe, never by a list that lags. */
export async function askOwner(client: Describe, sandbox: Named, deployment: string): Promise<Ownership> {
  const asked = ownerToAsk(sandbox.name, deployment);
  return ownershipOf(sandbox, deployment, asked && (await ownerSeen(client, asked)));
}

/** A cache for one plan: sandboxes of one job share their owner. */
export function createOwnerReader(client: Describe, deployment: string) {
  const seen = new Map<string, Promise<OwnerSeen | undefined>>();
  return async (sandbox: Named): Promise<Ownership> => {
    const asked = ownerToAsk(sandbox.name, deployment);
    if (!asked) return ownershipOf(sandbox, deployment, undefined);
    const key = `${asked.itemWorkflowId ?? asked.workflowId} ${asked.execution}`;
    const answer = seen.get(key) ?? ownerSeen(client, asked);
    seen.set(key, answer);
    return ownershipOf(sandbox, deployment, await answer);
  };
}

async function ownerSeen(client: Describe, asked: OwnerToAsk): Promise<OwnerSeen | undefined> {
  const { workflowId, execution, itemWorkflowId } = asked;
  const newest = await describe(client, workflowId);
  if (newest === undefined) return undefined;
  const item = itemWorkflowId === undefined ? undefined : await describe(client, itemWorkflowId);
  if ([newest, item].some((seen) => seen !== undefined && !closed.has(seen.status))) {
    return { isOpen: true, closedFirstRunIds: [] };
  }
  // Temporal forgets an item before its batch, and with it whether the item has kept its fork on purpose.
  if (itemWorkflowId !== undefined && item === undefined) return undefined;
  // An earlier generation of an item has kept a fork of its own.
  const keptSandboxIds = await keptBy(client, { newest, item, itemWorkflowId });
  if (executionOf(newest.firstRunId) === execution) {
    return { isOpen: false, closedFirstRunIds: [newest.firstRunId], keptSandboxIds };
  }
  const earlier = await earlierFirstRunIds(client, { workflowId, execution });
  const keptEarlier = item === undefined ? await keptByAll(client, workflowId, newest.kept) : keptSandboxIds;
  return { isOpen: false, closedFirstRunIds: earlier, keptSandboxIds: keptEarlier };
}

async function keptBy(
  client: Describe,
  {
    newest,
    item,
    itemWorkflowId = '',
  }: { newest: Described; item: Described | undefined; itemWorkflowId?: string | undefined },
): Promise<readonly string[]> {
  return item === undefined ? newest.kept : keptByAll(client, itemWorkflowId, item.kept);
}

/** What all executions of an id have kept. A list lags, so the newest is known by describe. */
async function keptByAll(client: Describe, workflowId: string, newest: readonly string[]): Promise<string[]> {
  const kept = [...newest];
  let looked = 0;
  for await (const { memo } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    looked += 1;
    if (looked > earlierExecutions) break;
    kept.push(...keptIn(memo));
  }
  return kept;
}

function keptIn(memo: Record<string, unknown> | undefined): string[] {
  const { kept } = (memo ?? {}) as Partial<KeptMemo>;
  return typeof kept === 'string' ? [kept] : [];
}

/** Of an id that was used again: the earlier execution that fits, found by a list and then seen by describe. */
async function earlierFirstRunIds(
  client: Describe,
  { workflowId, execution }: Pick<OwnerToAsk, 'workflowId' | 'execution'>,
): Promise<string[]> {
  const query = `WorkflowId = '${workflowId}'`;
  let looked = 0;
  for await (const { runId } of client.workflow.list({ query, pageSize: earlierExecutions })) {
    looked += 1;
    if (looked > earlierExecutions) break;
    if (executionOf(runId) !== execution) continue;
    const found = await describe(client, workflowId, runId);
    // Its chain has ended, however the first run of it did: a later execution has the id, and has ended, too.
    const hasEnded = found !== undefined && (closed.has(found.status) || found.status === 'CONTINUED_AS_NEW');
    if (hasEnded && executionOf(found.firstRunId) === execution) return [found.firstRunId];
  }
  return [];
}

interface Described {
  readonly status: string;
  readonly firstRunId: string;
  readonly kept: readonly string[];
}

async function describe(client: Describe, workflowId: string, runId?: string): Promise<Described | undefined> {
  try {
    const { status, raw, memo } = await client.workflow.getHandle(workflowId, runId).describe();
    return { status: status.name, firstRunId: raw.workflowExecutionInfo?.firstRunId ?? '', kept: keptIn(memo) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
