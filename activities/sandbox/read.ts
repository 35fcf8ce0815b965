/** Retry class `safe`, reads. */
import { ListIncompleteError, type SandboxClient } from '../../src/client/index.js';
import { isUnreadable, orNullWhenMissing } from '../../src/client/missing.js';
import type { DeletionOperation } from '../../src/contract/records/sandbox-records.js';
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { deletionStatuses } from '../../src/contract/workflow-safe/states.js';
import { repeatable } from '../retry/attempt.js';
import { triesToRead } from '../retry/classify.js';
import { oneCallIfThere } from '../retry/one-call.js';
import { sandboxView, stopView } from '../sandbox-view.js';
import { deletionShown } from './accepted-operation.js';

export function createReads(client: SandboxClient) {
  return {
    /**
     * Reads a sandbox; null if it does not exist (a 404: it was deleted, or was `cancelled` and has already been
     * reported, trap S5).
     */
    getSandbox: (sandboxId: string) =>
      oneCallIfThere(async (o) => sandboxView((await client.getSandbox(sandboxId, o)).sandbox)),

    /**
     * The caller's own sandbox with this exact name; null if the list shows no match or several, or is incomplete, which
     * proves nothing.
     */
    findSandboxByName: (name: string): Promise<SandboxView | null> =>
      repeatable(async ({ call }) => {
        const all = await call((signal) => client.listAllSandboxes({}, { signal })).catch((error: unknown) => {
          if (error instanceof ListIncompleteError) return [];
          throw error;
        });
        const [match, ...more] = all.filter(
          (sandbox) => sandbox.name === name && (sandbox.access ?? 'owner') === 'owner',
        );
        return match && more.length === 0 ? sandboxView(match) : null;
      }),

    /** Reads a stop by its own id; null if the sandbox or the stop is unknown, or its record cannot be read. */
    getStop: (sandboxId: string, stopId: string): Promise<StopView | null> =>
      repeatable(async ({ call, attempt }) => {
        try {
          const answer = await orNullWhenMissing(call((signal) => client.getStop(sandboxId, stopId, { signal })));
          return answer && stopView(answer.stop);
        } catch (error) {
          return nullIfUnread(error, { attempt });
        }
      }),

    /** Reads a deletion; null if the operation is unknown, or its record cannot be read or understood. */
    getDeletionOperation: (operationId: string): Promise<DeletionOperation | null> =>
      repeatable(async ({ call, attempt }) => {
        try {
          const answer = await orNullWhenMissing(
            call((signal) => client.getDeletionOperation(operationId, { signal })),
          );
          const seen = answer && deletionShown(operationId, answer);
          return seen && (deletionStatuses as readonly string[]).includes(seen.status) ? seen : null;
        } catch (error) {
          return nullIfUnread(error, { attempt });
        }
      }),
  };
}

/**
 * Null: a read of the sandbox shows what the record would.
 * @throws the error, if a repeat may end otherwise
 */
function nullIfUnread(error: unknown, { attempt }: { readonly attempt: number }): null {
  if (isUnreadable(error) && (error.meaning === 'permanent' || attempt >= triesToRead)) return null;
  throw error;
}
