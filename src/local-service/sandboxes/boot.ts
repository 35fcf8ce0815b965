/** Boots a sandbox after a create or a resume, until it is usable. */
import { isCreating, type SandboxState } from '../../contract/workflow-safe/states.js';
import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { prepareDisk } from '../environments/on-machine.js';
import { reasonOf } from '../log.js';
import { scheduleSnapshot } from '../snapshots/periodic.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';
import { countEntries, planHydration } from './hydration.js';
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
    const sshEndpoint = await openForBoot(context, sandbox, { hasDisk: false });
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
    await locks.run(subject, async () => {
      if (sandbox.restoreFrom !== null) await host.restoreDisk(subject, sandbox.restoreFrom);
      else await host.createDisk(subject);
      // Processes that were started before a wipe may still have the logins in their variables.
      if (sandbox.loginsWiped) await host.endProcesses(subject);
      await prepareDisk(context, subject);
    });
  } catch (cause) {
    if (context.closing.aborted) return;
    const now = current();
    if (now)
      changeSandbox(context, now, { state: 'error', error: `The disk could not be created: ${reasonOf(cause)}` });
    return;
  }
  // Not under the lock, so that a deletion need not wait for it.
  const cloned = await cloneRepositories(context, sandbox);
  // A client that sees the sandbox usable can log in at once.
  if (sandbox.sshKeys.length > 0) await openForBoot(context, sandbox, { hasDisk: true });
  const hydrationEntries = await entriesToCopy(context, sandbox);
  const booted = current();
  if (!booted || context.closing.aborted) return;
  const change = { ...cloned, ...(hydrationEntries !== null && { hydrationEntries }) };
  const now = Object.keys(change).length === 0 ? booted : changeSandbox(context, booted, change);
  if (now.state === 'error') return;
  if (now.fate?.end === 'error') failOnce(context, now, now.fate.recoverMs);
  else makeUsable(context, now);
}

/** Counts the entries of the background copy; null if there is no such copy, or if its entries are not counted. */
async function entriesToCopy(context: Context, { restoreFrom }: SandboxRecord): Promise<number | null> {
  if (restoreFrom === null || context.timings.hydrationMs === 0) return null;
  return countEntries(context, restoreFrom);
}

function failOnce(context: Context, sandbox: SandboxRecord, recoverMs: number | null): void {
  context.database.transaction(() => {
    changeSandbox(context, sandbox, {
      state: 'error',
      error: 'The machine does not answer.',
      fate: null,
      restoreFrom: null,
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

/** Makes a sandbox `ready`, from its boot or from `error`. Its disk exists already. */
export function makeUsable(context: Context, sandbox: SandboxRecord): void {
  const { id, epoch } = sandbox;
  const copies = !sandbox.hydrated;
  const lazy = copies && context.timings.hydrationMs > 0;
  const now = context.clock.iso();
  const archiveAfter = freshArchiveAfter(context.clock, sandbox.ttlSeconds);
  const plan = lazy ? planHydration(context) : { setback: null, durationMs: 0 };
  context.database.transaction(() => {
    changeSandbox(context, sandbox, {
      state: 'ready',
      error: null,
      restoreFrom: null,
      archiveAfter,
      hydrated: !lazy,
      hydratedAt: copies && !lazy ? now : sandbox.hydratedAt,
      hydrationStartedAt: lazy ? now : null,
      hydrationSetback: plan.setback,
    });
    if (lazy) context.schedule('hydrate', id, String(epoch), Date.parse(now) + plan.durationMs);
    if (archiveAfter !== null) context.schedule('auto_stop', id, String(epoch), Date.parse(archiveAfter));
    scheduleSnapshot(context, sandbox);
    if (sandbox.setupStatus === 'pending') context.schedule('setup', id, String(epoch), Date.parse(now));
  });
}
