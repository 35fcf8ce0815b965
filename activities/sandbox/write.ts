/** Retry class `safe`, writes: they end in the same state when they are repeated. */
import type { SandboxClient } from '../../src/client/index.js';
import type { UpdateSandboxBody } from '../../src/contract/requests.js';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import type { Counted } from '../../src/contract/service-failure.js';
import { withCallCount } from '../retry/attempt.js';
import { orNullWhenMissing } from './read.js';
import { sandboxView } from './view.js';

export interface DeletionStarted {
  /** Null when there was nothing to delete any more. */
  readonly operationId: string | null;
}

export function createWrites(client: SandboxClient) {
  return {
    /** Renames a sandbox, sets its auto-stop, or names its snapshot; null when there is no such sandbox. */
    async updateSandbox(sandboxId: string, body: UpdateSandboxBody): Promise<Counted<SandboxView | null>> {
      return withCallCount(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.updateSandbox(sandboxId, body, { signal })));
        return answer && sandboxView(answer.sandbox);
      });
    },

    /** Deletes a sandbox for ever. It cannot be cancelled; follow the operation to `completed`. */
    async deleteSandbox(sandboxId: string): Promise<Counted<DeletionStarted>> {
      return withCallCount(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.deleteSandbox(sandboxId, { signal })));
        return { operationId: answer?.operationId ?? null };
      });
    },

    /** Deletes a snapshot for ever. It cannot be cancelled; follow the operation to `completed`. */
    async deleteSnapshot(snapshotId: string): Promise<Counted<DeletionStarted>> {
      return withCallCount(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.deleteSnapshot(snapshotId, { signal })));
        return { operationId: answer?.operationId ?? null };
      });
    },

    /** Lets the organization use a sandbox, once its creator's logins are wiped; null when there is no such sandbox. */
    async shareSandbox(sandboxId: string): Promise<Counted<SandboxView | null>> {
      return withCallCount(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.shareSandbox(sandboxId, { signal })));
        return answer && sandboxView(answer.sandbox);
      });
    },

    /** Keeps a sandbox to its creator, at once; null when there is no such sandbox. */
    async unshareSandbox(sandboxId: string): Promise<Counted<SandboxView | null>> {
      return withCallCount(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.unshareSandbox(sandboxId, { signal })));
        return answer && sandboxView(answer.sandbox);
      });
    },

    /** Lets the holder of a key in by SSH. @returns `host:port`, or null where the machine has an address of its own */
    async setSshKey(sandboxId: string, publicKey: string): Promise<Counted<string | null>> {
      return withCallCount(async ({ call }) => {
        const answer = await call((signal) => client.setSshKey(sandboxId, { publicKey }, { signal }));
        return answer.sshEndpoint ?? null;
      });
    },

    /** Interrupts the work of one conversation, or of all; 0 when there is no such sandbox. */
    async interruptSandbox(sandboxId: string, conversationId: string | null): Promise<Counted<number>> {
      const filter = conversationId === null ? {} : { conversation: conversationId };
      return withCallCount(async ({ call }) => {
        const answer = await orNullWhenMissing(
          call((signal) => client.interruptSandbox(sandboxId, filter, { signal })),
        );
        return answer?.interrupted ?? 0;
      });
    },
  };
}
