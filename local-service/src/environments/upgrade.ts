/** POST /environments/{environmentId}/upgrade. */
import { isCreating, isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { Caller } from '../access/key-scope.js';
import { assume } from '../core/assume.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { reasonOf } from '../log.js';
import { MachineError } from '../machine/index.js';
import type { EnvironmentRecord, EnvironmentVersion } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { environmentFor } from './environments.js';
import { secretFilesFor } from './on-machine.js';
import { pinnedToVersion } from './pin.js';
import { placeSecretFiles } from './secret-files.js';

interface UpgradeCounts {
  readonly upgraded: number;
  readonly failed: number;
}

/**
 * Moves the caller's active sandboxes to the latest version. Secret files that the version drops are removed from their
 * disks, and its own are written. Processes that start from then on get its variables; running processes keep theirs.
 *
 * Assumptions: a sandbox is active if it is usable, being created, or in `error`. A sandbox that is archived or being
 * archived keeps its version; it can be upgraded once it has been resumed. Named sandboxes count as failed if they are
 * unknown, not the caller's, not of this environment or not active. Sandboxes that already have the latest version are
 * not counted. Safe to repeat.
 * @param sandboxIds only these; default: all
 * @throws ServiceError 404 for an environment that is unknown or not the caller's
 */
export async function upgradeEnvironment(
  context: Context,
  caller: Caller,
  environmentId: string,
  sandboxIds?: readonly string[],
): Promise<UpgradeCounts> {
  assume('A-environment-upgrade');
  const environment = environmentFor(context, caller, environmentId);
  const latest = context.stores.environments.latest(environmentId);
  const named = sandboxIds === undefined ? undefined : new Set(sandboxIds);
  const candidates = [...context.stores.sandboxes.living()].filter(
    (sandbox) =>
      sandbox.ownerId === caller.accountId &&
      sandbox.environmentId === environmentId &&
      isActive(sandbox) &&
      (named?.has(sandbox.id) ?? true),
  );
  let upgraded = 0;
  let failed = named === undefined ? 0 : named.size - candidates.length;
  for (const { id, environmentVersionId } of candidates) {
    if (latest === undefined || environmentVersionId === latest.id) continue;
    const moved = await context.locks.run(id, () => moveTo(context, { id, environment, version: latest }));
    if (moved) upgraded += 1;
    else failed += 1;
  }
  return { upgraded, failed };
}

function isActive({ state }: SandboxRecord): boolean {
  return isUsable(state) || isCreating(state) || state === 'error';
}

/** False if the sandbox could not be moved; it is then still pinned to its former version. */
async function moveTo(
  context: Context,
  to: { readonly id: string; readonly environment: EnvironmentRecord; readonly version: EnvironmentVersion },
): Promise<boolean> {
  const { stores, log } = context;
  const sandbox = stores.sandboxes.get(to.id);
  if (!sandbox || !isActive(sandbox)) return false;
  const pin = pinnedToVersion(to.environment, to.version);
  try {
    const blocked = await placeSecretFiles(context, sandbox, secretFilesFor(context, { ...sandbox, ...pin }));
    if (blocked.length > 0)
      throw new MachineError(
        'not_a_file',
        `A folder or another object blocks the path of a secret file: ${blocked.join(', ')}.`,
      );
  } catch (cause) {
    // A disk that does not exist yet, or no longer exists, gets its files when the sandbox starts.
    const waits = cause instanceof MachineError && cause.code === 'no_disk' && !isUsable(sandbox.state);
    if (!waits) {
      log('a sandbox could not be upgraded', { sandboxId: to.id, reason: reasonOf(cause) });
      await putBack(context, to.id);
      return false;
    }
  }
  const now = stores.sandboxes.get(to.id);
  if (!now) return false;
  changeSandbox(context, now, pin);
  return true;
}

/** Restores the secret files of the version that the sandbox stays on, as far as they can be written. */
async function putBack(context: Context, sandboxId: string): Promise<void> {
  const now = context.stores.sandboxes.get(sandboxId);
  if (!now) return;
  try {
    await placeSecretFiles(context, now, secretFilesFor(context, now));
  } catch (cause) {
    context.log('secret files could not be put back', { sandboxId, reason: reasonOf(cause) });
  }
}
