/** Retry class `safe`, writes: they end in the same state when they are repeated. */
import type { SandboxClient } from '../src/client/index.js';
import type { UpdateSandboxBody } from '../src/contract/requests.js';
import type { SandboxView } from '../src/contract/sandbox-view.js';
import type { Counted } from '../src/contract/service-failure.js';
import { counted } from './calls.js';
import { orNullWhenMissing } from './reads.js';
import { sandboxView } from './sandbox-view.js';

export interface DeletionStarted {
  /** Null when there was nothing to delete any more. */
  readonly operationId: string | null;
}

export function createWrites(client: SandboxClient) {
  return {
    /** Renames a sandbox, sets its auto-stop, or names its snapshot; null when there is no such sandbox. */
    async updateSandbox(sandboxId: string, body: UpdateSandboxBody): Promise<Counted<SandboxView | null>> {
      return counted(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.updateSandbox(sandboxId, body, { signal })));
        return answer && sandboxView(answer.sandbox);
      });
    },

    /** Deletes a sandbox for ever. It cannot be cancelled; follow the operation to `completed`. */
    async deleteSandbox(sandboxId: string): Promise<Counted<DeletionStarted>> {
      return counted(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.deleteSandbox(sandboxId, { signal })));
        return { operationId: answer?.operationId ?? null };
      });
    },

    /** Interrupts the work of one conversation, or of all; 0 when there is no such sandbox. */
    async interruptSandbox(sandboxId: string, conversationId: string | null): Promise<Counted<number>> {
      const filter = conversationId === null ? {} : { conversation: conversationId };
      return counted(async ({ call }) => {
        const answer = await orNullWhenMissing(
          call((signal) => client.interruptSandbox(sandboxId, filter, { signal })),
        );
        return answer?.interrupted ?? 0;
      });
    },
  };
}
