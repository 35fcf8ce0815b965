/** Boots a sandbox after a create or a resume, until it is usable. */
import { isCreating, type SandboxState } from '../../../src/contract/workflow-safe/states.js';
import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { prepareDisk } from '../environments/on-machine.js';
import { reasonOf } from '../log.js';
import type { Restore } from '../machine/index.js';
import { scheduleSnapshot } from '../snapshots/periodic.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';
import { takeSetback } from './hydration.js';
import { cloneRepositories, repositoriesToClone } from './repositories.js';
import { openForBoot } from './ssh-access.js';

/** Schedules the boot of a sandbox that is in `init` or `provisioning`; part of the current transaction. */
export function scheduleBoot({ schedule, clock, timings }: Context, { id, epoch, state }: SandboxRecord): void {
  schedule('boot', id, String(epoch), clock.now() + (state === 'init' ? timings.initMs : timings.bootMs / 2));
}

/** The work `boot`: takes the sandbox to `provisioning`, then to `provisioned` or `cloning`, and then to usable. */
export async function boot(context: Context, { subject, token }: Work): Promise<void> {
  const { stores, host, locks, timings } = context;
  const current = (): SandboxRecord | undefined => {
    const sandbox = stores.sandboxes.get(subject);
    return sandbox && isCreating(sandbox.state) && String(sandbox.epoch) === token ? sandbox : undefined;
  };
  const sandbox = current();
  if (!sandbox) return;
  if (sandbox.state === 'init') {
    context.database.transaction(() =>
      scheduleBoot(context, changeSandbox(context, sandbox, { state: 'provisioning' })),
    );
    return;
  }
  if (sandbox.state === 'provisioning') {
    const sshEndpoint = await openForBoot(context, sandbox);
    const now = current();
    if (!now || context.closing.aborted) return;
    const isCopied = now.restoreFrom !== null || repositoriesToClone(context, now).length > 0;
    const state: SandboxState = isCopied ? 'cloning' : 'provisioned';
    context.database.transaction(() => {
      changeSandbox(context, now, { state, sshEndpoint });
      context.schedule('boot', subject, token, context.clock.now() + timings.bootMs / 2);
    });
    return;
  }
  if (sandbox.fate?.end === 'cancelled') {
    // The first read reports the cancellation. Later reads do not find the sandbox (trap S5).
    changeSandbox(context, sandbox, {
      state: 'cancelled',
      error: 'No machine could be obtained for this sandbox.',
      archiveAfter: null,
      gone: 'cancelled',
    });
    return;
  }
  try {
    const hasDisk = await locks.run(subject, async () => {
      if (!current() || !(await makeDisk(context, sandbox))) return false;
      // Processes that were started before a wipe may still have the logins in their variables.
      if (sandbox.loginsWiped) await host.endProcesses(subject);
      await prepareDisk(context, subject);
      return true;
    });
    if (!hasDisk) return;
  } catch (cause) {
    if (context.closing.aborted) return;
    const now = current();
    if (now) changeSandbox(context, now, { state: 'error', error: diskProblem(cause) });
    return;
  }
  // Not under the lock, so that a deletion need not wait for it.
  const cloned = await cloneRepositories(context, sandbox);
  const booted = current();
  if (!booted || context.closing.aborted) return;
  const change = { ...cloned, ...restored(context, booted) };
  context.database.transaction(() => {
    const now = Object.keys(change).length === 0 ? booted : changeSandbox(context, booted, change);
    if (now.state === 'error') return;
    if (now.fate?.end === 'error') failOnce(context, now, now.fate.recoverMs);
    else makeUsable(context, now);
  });
}

/** Makes the disk, or begins to. @returns false if that was ended, by a deletion for example */
async function makeDisk({ host, timings }: Context, sandbox: SandboxRecord): Promise<boolean> {
  const { id, restoreFrom, copyingFrom } = sandbox;
  let restore: Restore;
  if (restoreFrom !== null) restore = await host.restoreDisk(id, restoreFrom);
  else if (copyingFrom !== null) restore = await host.continueRestore(id, copyingFrom);
  else {
    await host.createDisk(id);
    return true;
  }
  return timings.hydrationMs > 0 || (await restore.ended);
}

/** The changes of the record once the disk is restored, or is being restored in the background. */
function restored({ timings }: Context, { restoreFrom, copyingFrom }: SandboxRecord): Partial<SandboxRecord> {
  const snapshotId = restoreFrom ?? copyingFrom;
  if (snapshotId === null) return {};
  return { restoreFrom: null, copyingFrom: timings.hydrationMs > 0 ? snapshotId : null, hydrationEntries: null };
}

export function diskProblem(cause: unknown): string {
  return `The disk could not be created: ${reasonOf(cause)}`;
}

function failOnce(context: Context, sandbox: SandboxRecord, recoverMs: number | null): void {
  context.database.transaction(() => {
    changeSandbox(context, sandbox, {
      state: 'error',
      error: 'The machine does not answer.',
      fate: null,
    });
    if (recoverMs !== null) {
      context.schedule('recover', sandbox.id, String(sandbox.epoch), context.clock.now() + recoverMs);
    }
  });
}

/** The work `recover`: a sandbox in `error` becomes usable by itself. */
export function recoverFromError(context: Context, { subject, token }: Work): void {
  const sandbox = context.stores.sandboxes.get(subject);
  if (sandbox?.state === 'error' && String(sandbox.epoch) === token) makeUsable(context, sandbox);
}

/** Makes a sandbox `ready`, from its boot or from `error`. Its disk exists already, or is being restored. */
export function makeUsable(context: Context, sandbox: SandboxRecord): void {
  const { id, epoch } = sandbox;
  const copies = !sandbox.hydrated;
  const lazy = copies && context.timings.hydrationMs > 0;
  const now = context.clock.iso();
  const archiveAfter = freshArchiveAfter(context.clock, sandbox.ttlSeconds);
  context.database.transaction(() => {
    changeSandbox(context, sandbox, {
      state: 'ready',
      error: null,
      archiveAfter,
      hydrated: !lazy,
      hydratedAt: copies && !lazy ? now : sandbox.hydratedAt,
      hydrationStartedAt: lazy ? now : null,
      hydrationSetback: lazy ? takeSetback(context) : null,
    });
    if (lazy) context.schedule('hydrate', id, String(epoch), context.clock.now());
    if (archiveAfter !== null) context.schedule('auto_stop', id, String(epoch), Date.parse(archiveAfter));
    scheduleSnapshot(context, sandbox);
    if (sandbox.setupStatus === 'pending') context.schedule('setup', id, String(epoch), Date.parse(now));
  });
}
