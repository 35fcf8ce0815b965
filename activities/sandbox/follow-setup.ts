/** Follows the setup script of a sandbox. No webhook reports its end, so this polls with the shared reads. */
import { heartbeat } from '@temporalio/activity';
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import { defaultReadLagMs } from '../../src/contract/workflow-safe/limits.js';
import { isCreating, isUsable, sandboxStates } from '../../src/contract/workflow-safe/states.js';
import { createFollower, type FollowHub } from '../prompt/follow-hub.js';
import { currentAttempt, withHeartbeat } from '../retry/attempt.js';
import { repeatableFailure } from '../retry/classify.js';

export interface SetupEnd {
  /** `done`, `failed`, or `sandbox_lost` if the sandbox is no longer usable. */
  readonly status: string;
  readonly error: string | null;
}

/**
 * Waits until the setup script has ended. Safe to repeat (specification, `setupStatus`).
 * `readLagMs`: how long a read may lag behind a write, in ms; a 404 that lasts longer is final. Default: 90 000.
 */
export function followSetupActivity(client: SandboxClient, hub: FollowHub) {
  return async function followSetup(sandboxId: string, readLagMs = defaultReadLagMs): Promise<SetupEnd> {
    const attempt = currentAttempt();
    heartbeat();
    return withHeartbeat(follow).catch((error: unknown) => {
      throw repeatableFailure(error, { pauseMs: attempt.pauseMs });
    });

    async function follow(): Promise<SetupEnd> {
      const follower = createFollower(hub, sandboxId);
      let missingSinceMs: number | undefined;
      for (;;) {
        const shared = (await follower.next(attempt.signal))?.sandbox;
        if (shared && !endOf(shared)) continue;
        // The list alone is not enough, so a read of the sandbox confirms it.
        const own = await orNullWhenMissing(attempt.call((signal) => client.getSandbox(sandboxId, { signal })));
        const confirmed = own && endOf(own.sandbox);
        if (confirmed) return confirmed;
        if (own) missingSinceMs = undefined;
        else missingSinceMs ??= Date.now();
        if (missingSinceMs !== undefined && Date.now() - missingSinceMs >= readLagMs) {
          return { status: 'sandbox_lost', error: 'gone' };
        }
        await follower.pause(attempt.signal);
      }
    }
  };
}

function endOf({ setupStatus, setupError, state }: Sandbox): SetupEnd | undefined {
  const status = setupStatus ?? 'done';
  if (status === 'done' || status === 'failed') return { status, error: setupError ?? null };
  const isKnown = (sandboxStates as readonly string[]).includes(state);
  if (isKnown && !isUsable(state) && !isCreating(state)) return { status: 'sandbox_lost', error: state };
  return undefined;
}
