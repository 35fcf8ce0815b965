/** Talks to `sandboxWatch` workflows, which hold leases on sandboxes and the claims that exclude them. */
import { activityInfo, Context, sleep } from '@temporalio/activity';
import {
  isGrpcServiceError,
  ServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import type { SandboxClient } from '../src/client/index.js';
import { sandboxWatchId } from '../src/contract/addresses.js';
import type { Counted } from '../src/contract/service-failure.js';
import {
  type ClaimRequest,
  claimSandboxUpdate,
  type HoldAnswer,
  type LeaseRequest,
  leaseSandboxUpdate,
  releaseClaimSignal,
  workflowTypes,
} from '../workflows/messages.js';
import { withCallCount, withHeartbeat } from './retry/attempt.js';
import { finalFailure } from './retry/classify.js';
import { orNullWhenMissing } from './sandbox/read.js';

/** What a claim is for; its claimant is the workflow that the activity is of. */
export type ClaimOptions = Pick<ClaimRequest, 'purpose' | 'ends'>;

/** What became of a deletion that was to be begun under a claim. */
export interface ClaimedDeletion {
  /** Others that lease the sandbox, so that nothing was begun. */
  readonly leasedBy: readonly string[];
  /** `unnamed`: accepted, but the service gave no id to follow it by. */
  readonly did: 'nothing' | 'deleting' | 'unnamed' | 'gone';
  readonly operationId: string | null;
}

/** How long a claim lasts that is not renewed, in ms. An attempt of an activity lasts a minute at most. */
const claimLastsMs = 600_000;
const answerWithinMs = 30_000;
const crowdedPauseMs = 400;
const grpcResourceExhausted = 8;
/** A call under a claim begins within this, in ms; later the claim is asked for once more. */
const claimIsFreshMs = 20_000;

const ownId = () => activityInfo().workflowExecution?.workflowId ?? '';

async function ask<Request>(
  update: UpdateDefinition<HoldAnswer, [Request]>,
  request: Request,
  { sandboxId, taskQueue }: { readonly sandboxId: string; readonly taskQueue: string },
): Promise<HoldAnswer> {
  const { client } = Context.current();
  const deadlineMs = Date.now() + answerWithinMs;
  for (;;) {
    try {
      return await client.withDeadline(deadlineMs, () =>
        client.workflow.executeUpdateWithStart(update, {
          args: [request],
          startWorkflowOperation: new WithStartWorkflowOperation(workflowTypes.sandboxWatch, {
            workflowId: sandboxWatchId(sandboxId),
            taskQueue,
            args: [{ sandboxId }],
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        }),
      );
    } catch (error) {
      if (!isCrowded(error) || Date.now() > deadlineMs) throw error;
      await sleep(crowdedPauseMs * (0.5 + Math.random()));
    }
  }
}

/** Temporal takes ten Updates of a workflow at a time. */
function isCrowded(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === grpcResourceExhausted;
}

/** Asks, within an activity, for the right to stop or delete a sandbox, or renews it. Safe to repeat. */
function claimSandbox(sandboxId: string, wish: ClaimOptions, taskQueue: string): Promise<HoldAnswer> {
  const request = { ...wish, claimant: ownId(), lastsMs: claimLastsMs };
  return ask(claimSandboxUpdate, request, { sandboxId, taskQueue });
}

/**
 * A claim that an attempt acts under: `ask` claims, `confirm` asks again where that was long ago, since an attempt that was
 * held up may have been given up meanwhile, and its claim given back.
 */
export function createClaim(sandboxId: string, wish: ClaimOptions, taskQueue: string) {
  let answer: HoldAnswer | undefined;
  let askedMs = Number.NEGATIVE_INFINITY;
  const askNow = async (): Promise<HoldAnswer> => {
    askedMs = performance.now();
    answer = await claimSandbox(sandboxId, wish, taskQueue);
    return answer;
  };
  const confirm = async () =>
    answer?.granted && performance.now() - askedMs < claimIsFreshMs ? answer : await askNow();
  return { ask: askNow, confirm };
}

/** Gives a claim back before it expires, so that the watch need not outlive it. Safe to repeat. */
export async function releaseClaim(sandboxId: string, { purpose }: Pick<ClaimOptions, 'purpose'>): Promise<void> {
  try {
    await Context.current()
      .client.workflow.getHandle(sandboxWatchId(sandboxId))
      .signal(releaseClaimSignal, { claimant: ownId(), purpose });
  } catch (error) {
    // The watch has ended, and the claim with it.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

function claimedFailure(sandboxId: string, { claimedBy }: HoldAnswer) {
  const by = claimedBy.length > 0 ? claimedBy.join(', ') : 'Too many jobs at once';
  return finalFailure({
    code: 'sandbox_claimed',
    message: `${by} holds the sandbox ${sandboxId}, to stop or delete it`,
    endpoint: null,
    status: null,
    meaning: 'unavailable',
    requestId: null,
    retryAfterMs: null,
    details: null,
    calls: 0,
  });
}

export function createWatchActivities(client: SandboxClient, taskQueue: string) {
  return {
    /**
     * Leases a sandbox, or renews the lease; starts the watch where there is none. Safe to repeat.
     * @throws `sandbox_claimed` while somebody is about to stop or delete it
     */
    async leaseSandbox(sandboxId: string, wish: Omit<LeaseRequest, 'workflowId'>): Promise<Counted<null>> {
      return withHeartbeat(async () => {
        const request = { ...wish, workflowId: ownId() };
        const answer = await ask(leaseSandboxUpdate, request, { sandboxId, taskQueue });
        if (!answer.granted) throw claimedFailure(sandboxId, answer);
        return { value: null, calls: 0 };
      });
    },

    /**
     * Claims a sandbox, or renews the claim; the answer names others that lease it. Safe to repeat.
     * @throws `sandbox_claimed` while somebody else has claimed it
     */
    async claimSandbox(sandboxId: string, wish: ClaimOptions): Promise<Counted<HoldAnswer>> {
      return withHeartbeat(async () => {
        const answer = await claimSandbox(sandboxId, wish, taskQueue);
        if (answer.claimedBy.length > 0) throw claimedFailure(sandboxId, answer);
        return { value: answer, calls: 0 };
      });
    },

    /**
     * Deletes a sandbox for ever, unless somebody leases it. Each attempt claims it anew, so that no repeated call
     * outlives the claim. It cannot be cancelled; follow the operation to `completed`, then give the claim back. Safe to repeat.
     * @throws `sandbox_claimed` while somebody else has claimed it
     */
    async deleteClaimed(
      sandboxId: string,
      { purpose }: Pick<ClaimOptions, 'purpose'>,
    ): Promise<Counted<ClaimedDeletion>> {
      return withCallCount(async ({ call }): Promise<ClaimedDeletion> => {
        const claim = createClaim(sandboxId, { purpose, ends: 'any' }, taskQueue);
        const held = await claim.ask();
        if (held.claimedBy.length > 0) throw claimedFailure(sandboxId, held);
        if (!held.granted) return { leasedBy: held.leasedBy, did: 'nothing', operationId: null };
        const answer = await orNullWhenMissing(call((signal) => client.deleteSandbox(sandboxId, { signal })));
        const operationId = answer?.operationId ?? null;
        if (answer === null) return { leasedBy: [], did: 'gone', operationId };
        return { leasedBy: [], did: operationId === null ? 'unnamed' : 'deleting', operationId };
      });
    },
  };
}
