/** Asks Temporal whose a sandbox is. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { executionOf } from '../src/contract/addresses.js';
import { type OwnerSeen, type Ownership, type OwnerToAsk, ownershipOf, ownerToAsk } from '../src/retention/index.js';

/** Any other status, also one that is unknown today, counts as open. */
const closed: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);
/** How many earlier executions of an id are looked through. */
const earlierExecutions = 200;

type Describe = Pick<Client, 'workflow'>;

/** Whose the sandbox of this name is now: by describe, never by a list that lags. */
export async function askOwner(client: Describe, name: string | null, deployment: string): Promise<Ownership> {
  const asked = ownerToAsk(name, deployment);
  return ownershipOf(name, deployment, asked && (await ownerSeen(client, asked)));
}

/** A cache for one plan: sandboxes of one job share their owner. */
export function createOwnerReader(client: Describe, deployment: string) {
  const seen = new Map<string, Promise<OwnerSeen | undefined>>();
  return async (name: string | null): Promise<Ownership> => {
    const asked = ownerToAsk(name, deployment);
    if (!asked) return ownershipOf(name, deployment, undefined);
    const key = `${asked.itemWorkflowId ?? asked.workflowId} ${asked.execution}`;
    const answer = seen.get(key) ?? ownerSeen(client, asked);
    seen.set(key, answer);
    return ownershipOf(name, deployment, await answer);
  };
}

async function ownerSeen(client: Describe, asked: OwnerToAsk): Promise<OwnerSeen | undefined> {
  const { workflowId, execution, itemWorkflowId } = asked;
  const newest = await describe(client, workflowId);
  if (newest === undefined) return undefined;
  // Its batch shows that Temporal knows this deployment, so an item that it does not know runs no more.
  const item = itemWorkflowId === undefined ? undefined : await describe(client, itemWorkflowId);
  if ([newest, item].some((seen) => seen !== undefined && !closed.has(seen.status))) {
    return { isOpen: true, closedFirstRunIds: [] };
  }
  if (executionOf(newest.firstRunId) === execution) return { isOpen: false, closedFirstRunIds: [newest.firstRunId] };
  return { isOpen: false, closedFirstRunIds: await earlierFirstRunIds(client, { workflowId, execution }) };
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

async function describe(client: Describe, workflowId: string, runId?: string) {
  try {
    const { status, raw } = await client.workflow.getHandle(workflowId, runId).describe();
    return { status: status.name, firstRunId: raw.workflowExecutionInfo?.firstRunId ?? '' };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
