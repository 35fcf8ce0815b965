/** Retry class `safe`, writes: repeating them leads to the same state. */
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { UpdateSandboxBody } from '../../src/contract/requests/sandbox-requests.js';
import type { SandboxView, SharingView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { repeatable } from '../retry/attempt.js';
import { sandboxView, sharingView } from '../sandbox-view.js';
import { deletionOfAnswer } from './accepted-operation.js';

export interface DeletionStarted {
  /** Null if there was nothing left to delete. */
  readonly operationId: string | null;
}

export function createWrites(client: SandboxClient) {
  return {
    /** Renames a sandbox, sets its auto-stop, or names its snapshot; null if the sandbox does not exist. */
    async updateSandbox(sandboxId: string, body: UpdateSandboxBody): Promise<SandboxView | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.updateSandbox(sandboxId, body, { signal })));
        return answer && sandboxView(answer.sandbox);
      });
    },

    /** Deletes a sandbox permanently. The deletion cannot be cancelled; follow the operation to `completed`. */
    async deleteSandbox(sandboxId: string): Promise<DeletionStarted> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.deleteSandbox(sandboxId, { signal })));
        return { operationId: deletionOfAnswer(answer) };
      });
    },

    /** Deletes a snapshot permanently. The deletion cannot be cancelled; follow the operation to `completed`. */
    async deleteSnapshot(snapshotId: string): Promise<DeletionStarted> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.deleteSnapshot(snapshotId, { signal })));
        return { operationId: deletionOfAnswer(answer) };
      });
    },

    /**
     * Shares a sandbox with the organization, once its creator's logins are wiped: at its next start if
     * `wipePendingUntilRestart` is true; null if the sandbox does not exist.
     */
    async shareSandbox(sandboxId: string): Promise<SharingView | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.shareSandbox(sandboxId, { signal })));
        return answer && sharingView(answer);
      });
    },

    /** Restricts a sandbox to its creator, effective immediately; null if the sandbox does not exist. */
    async unshareSandbox(sandboxId: string): Promise<SharingView | null> {
      return repeatable(async ({ call }) => {
        const answer = await orNullWhenMissing(call((signal) => client.unshareSandbox(sandboxId, { signal })));
        return answer && sharingView(answer);
      });
    },

    /** Grants SSH access to the holder of a key. @returns `host:port`, or null if the machine has its own address */
    async setSshKey(sandboxId: string, publicKey: string): Promise<string | null> {
      return repeatable(async ({ call }) => {
        const answer = await call((signal) => client.setSshKey(sandboxId, { publicKey }, { signal }));
        return answer.sshEndpoint ?? null;
      });
    },
  };
}
