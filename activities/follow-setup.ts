/** Follows the setup script of a sandbox. No webhook tells its end, so this polls with the shared reads. */
import { heartbeat } from '@temporalio/activity';
import type { SandboxClient } from '../src/client/index.js';
import type { Counted } from '../src/contract/service-failure.js';
import { isCreating, isUsable } from '../src/contract/states.js';
import { createAttempt } from './calls.js';
import { repeatableFailure } from './failures.js';
import type { FollowHub } from './follow-hub.js';
import { orNullWhenMissing } from './reads.js';

export interface SetupEnd {
  /** `done`, `failed`, or `sandbox_lost` when the sandbox is not usable any more. */
  readonly status: string;
  readonly error: string | null;
}

const heartbeatEveryMs = 20_000;

/** Waits until the setup script has ended. Safe to repeat (specification, `setupStatus`). */
export function followSetupActivity(client: SandboxClient, hub: FollowHub) {
  return async function followSetup(sandboxId: string): Promise<Counted<SetupEnd>> {
    const attempt = createAttempt();
    const followedSinceMs = Date.now();
    const timer = setInterval(() => heartbeat(), heartbeatEveryMs);
    heartbeat();
    try {
      for (;;) {
        const shared = await hub.next(sandboxId, { followedSinceMs, signal: attempt.signal });
        const sandbox =
          shared.sandbox ??
          (await orNullWhenMissing(attempt.call((signal) => client.getSandbox(sandboxId, { signal }))))?.sandbox;
        const status = sandbox?.setupStatus ?? 'done';
        const error = sandbox?.setupError ?? null;
        if (!sandbox) return { value: { status: 'sandbox_lost', error: 'gone' }, calls: attempt.calls() };
        if (status === 'done' || status === 'failed') return { value: { status, error }, calls: attempt.calls() };
        if (!isUsable(sandbox.state) && !isCreating(sandbox.state)) {
          return { value: { status: 'sandbox_lost', error: sandbox.state }, calls: attempt.calls() };
        }
      }
    } catch (error) {
      throw repeatableFailure(error, { calls: attempt.calls() });
    } finally {
      clearInterval(timer);
    }
  };
}
