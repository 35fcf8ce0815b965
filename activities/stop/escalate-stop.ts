/**
 * Acts on a stop that goes on failing: resumes the sandbox so that it can be stopped again, or deletes it. Each attempt
 * claims the sandbox and reads it right before it acts, because somebody may have resumed or leased it.
 */
import type { SandboxClient } from '../../src/client/index.js';
import { orNullWhenMissing } from '../../src/client/missing.js';
import { deletionClaim, stopAgainClaim } from '../../src/protocol/messages.js';
import { type BeforeRequest, type ReadFirst, readFirst } from '../retry/read-first.js';
import { deletionOfAnswer } from '../sandbox/accepted-operation.js';
import { sandboxView } from '../sandbox-view.js';
import { type ClaimOptions, createClaim, releaseClaim, throwIfHeld } from '../watch.js';
import { type FailingStopSeen, failingStopSeen } from './decide-escalation.js';

export interface EscalateStopInput {
  readonly sandboxId: string;
  /** The stop that fails. If the sandbox has another stop, nothing is done. */
  readonly stopId: string;
  /** The state before an earlier activity sent the same request. Default: nothing was sent. */
  readonly before?: BeforeRequest | null;
  /** How long a 404 must last to be final, in ms. Default: 90 s. */
  readonly readLagMs?: number;
}

/** What an activity found and did. Only after `resumed`, `deleting` and `unnamed` it still holds the claim. */
export type EscalatedStop =
  /** `resumed`: by this activity. `deleting`: accepted. `unnamed`: accepted, without an id to follow. */
  | { readonly did: 'resumed' | 'deleting' | 'unnamed'; readonly operationId: string | null }
  /** Nothing was done. `resumed_by_others`: somebody resumed it, and nothing is known of a resume by this activity. */
  | { readonly did: 'resumed_by_others' | Exclude<FailingStopSeen, 'failing' | 'resumed'> };

export function createStopEscalation(client: SandboxClient, taskQueue: string) {
  return {
    /**
     * Resumes a sandbox whose stop has failed. Safe to repeat: if an answer was lost and the sandbox was resumed since, the
     * resume counts as this one.
     * @throws `sandbox_claimed` while somebody else has claimed it; `sandbox_leased` while somebody leases it to work
     */
    resumeFailingStop: (input: EscalateStopInput): Promise<EscalatedStop> =>
      readFirst(client, input, (tools) =>
        ifFailing(
          input,
          { tools, taskQueue },
          {
            claimOptions: stopAgainClaim,
            async act() {
              await tools.send({ previousStopId: input.stopId }, () => client.resumeSandbox(input.sandboxId));
              return { did: 'resumed', operationId: null };
            },
            after: { did: 'resumed', operationId: null },
          },
        ),
      ),

    /**
     * Deletes a sandbox whose stop has failed. The deletion cannot be cancelled; follow the operation to `completed`, then
     * release the claim. Safe to repeat.
     * @throws `sandbox_claimed` while somebody else has claimed it; `sandbox_leased` while somebody leases it
     */
    deleteFailingStop: (input: EscalateStopInput): Promise<EscalatedStop> =>
      readFirst(client, input, async (tools) => {
        try {
          return await ifFailing(
            input,
            { tools, taskQueue },
            {
              claimOptions: deletionClaim,
              async act() {
                const send = () => orNullWhenMissing(client.deleteSandbox(input.sandboxId));
                const operationId = deletionOfAnswer(await tools.send({ previousStopId: input.stopId }, send));
                return { did: operationId === null ? 'unnamed' : 'deleting', operationId };
              },
            },
          );
        } catch (error) {
          // After a lost answer, only the operation that nobody knows would tell more.
          if (tools.isBelieved(error)) return tools.before() === null ? { did: 'gone' } : unnamed;
          throw error;
        }
      }),
  };
}

const unnamed = { did: 'unnamed', operationId: null } as const;

interface Act {
  readonly claimOptions: ClaimOptions;
  readonly act: () => Promise<EscalatedStop>;
  /** The result if the sandbox was resumed after a request whose answer was lost. Default: others resumed it. */
  readonly after?: EscalatedStop;
}

/** Claims the sandbox first, because a claim lasts; reads it last, because anybody may resume it at any moment. */
async function ifFailing(
  { sandboxId, stopId }: EscalateStopInput,
  { tools, taskQueue }: { readonly tools: ReadFirst; readonly taskQueue: string },
  { claimOptions, act, after }: Act,
): Promise<EscalatedStop> {
  const claim = createClaim(sandboxId, claimOptions, taskQueue);
  let keepsClaim = false;
  try {
    const held = await claim.ask();
    throwIfHeld(sandboxId, held);
    const seen = failingStopSeen(sandboxView(await tools.look()), stopId);
    const isOurs = seen === 'resumed' && tools.before() !== null && after !== undefined;
    if (!isOurs && seen !== 'failing') return { did: seen === 'resumed' ? 'resumed_by_others' : seen };
    throwIfHeld(sandboxId, await claim.confirm());
    keepsClaim = true;
    return isOurs ? after : await act();
  } catch (error) {
    // What may have been resumed must not be leased before the next attempt stops it.
    keepsClaim = tools.before() !== null;
    throw error;
  } finally {
    // A failed release is ignored, since a claim expires by itself.
    if (!keepsClaim) await releaseClaim(sandboxId, claimOptions).catch(() => undefined);
  }
}
