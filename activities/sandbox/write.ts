/** Retry class `safe`, writes: repeating them leads to the same state. */
import type { SandboxClient } from '../../src/client/index.js';
import type { UpdateSandboxBody } from '../../src/contract/requests/sandbox-requests.js';
import { oneCall, oneCallIfThere } from '../retry/one-call.js';
import { sandboxView, sharingView } from '../sandbox-view.js';
import { deletionOfAnswer } from './accepted-operation.js';

export interface DeletionStarted {
  /** Null if there was nothing left to delete. */
  readonly operationId: string | null;
}

export function createWrites(client: SandboxClient) {
  return {
    /** Renames a sandbox, sets its auto-stop, or names its snapshot; null if the sandbox does not exist. */
    updateSandbox: (sandboxId: string, body: UpdateSandboxBody) =>
      oneCallIfThere(async (o) => sandboxView((await client.updateSandbox(sandboxId, body, o)).sandbox)),

    /** Deletes a sandbox permanently. The deletion cannot be cancelled; follow the operation to `completed`. */
    async deleteSandbox(sandboxId: string): Promise<DeletionStarted> {
      return { operationId: deletionOfAnswer(await oneCallIfThere((o) => client.deleteSandbox(sandboxId, o))) };
    },

    /** Deletes a snapshot permanently. The deletion cannot be cancelled; follow the operation to `completed`. */
    async deleteSnapshot(snapshotId: string): Promise<DeletionStarted> {
      return { operationId: deletionOfAnswer(await oneCallIfThere((o) => client.deleteSnapshot(snapshotId, o))) };
    },

    /**
     * Shares a sandbox with the organization, once its creator's logins are wiped: at its next start if
     * `wipePendingUntilRestart` is true; null if the sandbox does not exist.
     */
    shareSandbox: (sandboxId: string) =>
      oneCallIfThere(async (o) => sharingView(await client.shareSandbox(sandboxId, o))),

    /** Restricts a sandbox to its creator, effective immediately; null if the sandbox does not exist. */
    unshareSandbox: (sandboxId: string) =>
      oneCallIfThere(async (o) => sharingView(await client.unshareSandbox(sandboxId, o))),

    /** Grants SSH access to the holder of a key. @returns `host:port`, or null if the machine has its own address */
    setSshKey: (sandboxId: string, publicKey: string) =>
      oneCall(async (o) => (await client.setSshKey(sandboxId, { publicKey }, o)).sshEndpoint ?? null),
  };
}
