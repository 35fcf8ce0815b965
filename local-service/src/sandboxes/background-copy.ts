/** The background copy of a restored sandbox: its end, its failure, and its next begin after a kill of the service. */
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { reasonOf } from '../log.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';
import { diskProblem } from './boot.js';
import { breakSandbox } from './health.js';
import { hydrationEndMs } from './hydration.js';

/** The work `hydrate`: waits for the end of the copy, and then until the time of the hydration has passed. */
export async function hydrate(context: Context, { subject, token }: Work): Promise<void> {
  const { stores, host, locks, clock, closing } = context;
  const current = (): SandboxRecord | undefined => {
    const sandbox = stores.sandboxes.get(subject);
    const isOutdated = closing.aborted || !sandbox || sandbox.hydrated || String(sandbox.epoch) !== token;
    return isOutdated || !isUsable(sandbox.state) ? undefined : sandbox;
  };
  const copyingFrom = current()?.copyingFrom ?? null;
  if (copyingFrom !== null) {
    try {
      // A deletion removes the disk under the lock, and no copy may begin after it.
      const copy = await locks.run(
        subject,
        async () => current() && (await host.continueRestore(subject, copyingFrom)),
      );
      if (!(await copy?.ended)) return;
    } catch (cause) {
      const broken = current();
      if (broken) fail(context, broken, cause);
      return;
    }
    const hydrationEntries = await countEntries(context, copyingFrom);
    const copied = current();
    if (copied) changeSandbox(context, copied, { copyingFrom: null, hydrationEntries, updatedAt: copied.updatedAt });
  }
  const now = current();
  if (!now) return;
  const endMs = hydrationEndMs(context, now);
  if (endMs > clock.now()) {
    context.schedule('hydrate', subject, token, endMs);
    return;
  }
  changeSandbox(context, now, {
    hydrated: true,
    hydratedAt: clock.iso(),
    hydrationStartedAt: null,
    hydrationSetback: null,
  });
}

/** As if the boot had failed: a resume restores the snapshot again. */
function fail(context: Context, sandbox: SandboxRecord, cause: unknown): void {
  context.database.transaction(() => {
    changeSandbox(context, sandbox, { restoreFrom: sandbox.copyingFrom, copyingFrom: null });
    breakSandbox(context, sandbox.id, { reason: diskProblem(cause), recoverMs: null });
  });
}

/** How many files, folders and links a snapshot holds; null if it has too many to count. */
async function countEntries({ host }: Context, snapshotId: string): Promise<number | null> {
  try {
    return (await host.tree(snapshotId)).length;
  } catch {
    // Only the shown progress depends on the count.
    return null;
  }
}

/**
 * Begins again the copies that an earlier service did not end. Called once, before the first request. A copy that cannot
 * begin fails in the work `hydrate`.
 */
export async function continueCopies({ stores, host, log }: Context): Promise<void> {
  for (const { id, copyingFrom } of [...stores.sandboxes.living()]) {
    if (copyingFrom === null) continue;
    try {
      await host.continueRestore(id, copyingFrom);
    } catch (cause) {
      log('the disk of a sandbox could not be restored', { sandboxId: id, reason: reasonOf(cause) });
    }
  }
}
