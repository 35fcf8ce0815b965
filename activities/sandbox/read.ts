/** Retry class `safe`, reads. */
import { ListIncompleteError, type SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { DeletionOperation } from '../../src/contract/records/sandbox-records.js';
import type { SandboxView, StopView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { repeatable } from '../retry/attempt.js';
import { staysUnreadable } from '../retry/classify.js';
import { sandboxView, stopView } from '../sandbox-view.js';
import { deletionShown } from './accepted-operation.js';

export function createReads(client: SandboxClient) {
  return {
    /**
     * Reads a sandbox; null if it does not exist (a 404: it was deleted, or was `cancelled` and has already been
     * reported, trap S5).
     */
    async getSandbox(sandboxId: string): Promise<SandboxView | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getSandbox(sandboxId, { signal })));
        return answer && sandboxView(answer.sandbox);
      });
    },

    /**
     * The caller's own sandbox with this exact name; null if the list shows no match or several, or is incomplete, which
     * proves nothing.
     */
    async findSandboxByName(name: string): Promise<SandboxView | null> {
      return repeatable(async ({ call }) => {
        const all = await call((signal) => client.listAllSandboxes({}, { signal })).catch((error: unknown) => {
          if (error instanceof ListIncompleteError) return [];
          throw error;
        });
        const [match, ...more] = all.filter(
          (sandbox) => sandbox.name === name && (sandbox.access ?? 'owner') === 'owner',
        );
        return match && more.length === 0 ? sandboxView(match) : null;
      });
    },

    /** Reads a stop by its own id; null if the sandbox or the stop is unknown. */
    async getStop(sandboxId: string, stopId: string): Promise<StopView | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.getStop(sandboxId, stopId, { signal })));
        return answer && stopView(answer.stop);
      });
    },

    /** Reads a deletion; null if the operation is unknown. */
    async getDeletionOperation(operationId: string): Promise<DeletionOperation | null> {
      return repeatable(async ({ call, attempt }) => {
        try {
          const answer = await orNullWhenMissing(
            call((signal) => client.getDeletionOperation(operationId, { signal })),
          );
          return answer && deletionShown(operationId, answer);
        } catch (error) {
          // A read of what is deleted then shows the end.
          if (staysUnreadable(error, { attempt })) return null;
          throw error;
        }
      });
    },
  };
}
