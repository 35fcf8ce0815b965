/**
 * Knows which workflows follow the stops of sandboxes and which watch sandboxes, while many deliveries arrive. There are
 * two such addresses for each event, and usually no workflow at either. A signal to nobody costs as much as any other.
 */
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../protocol/messages.js';
import type { BridgeLog } from './bridge-options.js';

export type OpenListeners = ReturnType<typeof createOpenListeners>;

/** Fewer deliveries per period than this are not worth a question. */
const deliveriesWorthAsking = 10;
const periodMs = 2_000;
/** An answer is believed for this long. A workflow that started since then is not known. */
const believedMs = 5_000;
const timeoutMs = 3_000;
/** If more workflows are open than one page holds, nothing is known. */
const pageSize = 500;

const query = `ExecutionStatus = 'Running' AND (WorkflowType = '${workflowTypes.stopAndAwaitArchive}' OR WorkflowType = '${workflowTypes.sandboxWatch}')`;

interface Answer {
  readonly askedAtMs: number;
  /** Undefined if the answer did not come, or is not complete. */
  readonly open: ReadonlySet<string> | undefined;
}

/** @param now returns the present in ms. Default: a clock that never goes back */
export function createOpenListeners(
  client: Client,
  { log, now = () => performance.now() }: { readonly log: BridgeLog; readonly now?: () => number },
) {
  let period = { beganAtMs: Number.NEGATIVE_INFINITY, deliveries: 0 };
  let answer: Answer | undefined;
  let asking: Promise<void> | undefined;
  let hasFailed = false;

  async function listOpen(): Promise<ReadonlySet<string> | undefined> {
    const { namespace } = client.options;
    const { executions, nextPageToken } = await client.withDeadline(Date.now() + timeoutMs, () =>
      client.workflowService.listWorkflowExecutions({ namespace, query, pageSize }),
    );
    if (nextPageToken && nextPageToken.length > 0) return undefined;
    return new Set(executions.map(({ execution }) => execution?.workflowId ?? ''));
  }

  async function ask(): Promise<void> {
    const askedAtMs = now();
    try {
      answer = { askedAtMs, open: await listOpen() };
      hasFailed = false;
    } catch (error) {
      answer = { askedAtMs, open: undefined };
      const reason = error instanceof Error ? error.message : String(error);
      if (!hasFailed) log('The open stops and watches cannot be listed; each is signalled.', { reason });
      hasFailed = true;
    }
  }

  return {
    /** Call once for each delivery. It asks Temporal in the background if deliveries are frequent, and never otherwise. */
    noteDelivery(): void {
      const atMs = now();
      if (atMs - period.beganAtMs >= periodMs) period = { beganAtMs: atMs, deliveries: 0 };
      period.deliveries += 1;
      const isDue = answer === undefined || atMs - answer.askedAtMs >= periodMs;
      if (asking || !isDue || period.deliveries < deliveriesWorthAsking) return;
      asking = ask().finally(() => {
        asking = undefined;
      });
    },
    /**
     * False if no workflow with this id was open a few seconds ago. It may have started since then. True also if that is
     * not known.
     */
    mayBeOpen(workflowId: string): boolean {
      if (answer?.open === undefined || now() - answer.askedAtMs >= believedMs) return true;
      return answer.open.has(workflowId);
    },
    /** Resolves when no question to Temporal is in progress. */
    async settled() {
      await asking;
    },
    reset(): void {
      answer = undefined;
    },
  };
}
