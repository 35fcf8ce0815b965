/** Requests leases and claims from `sandboxWatch` workflows. */
import { activityInfo, Context, sleep } from '@temporalio/activity';
import { WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { deploymentOfWorkflow, sandboxWatchId } from '../src/addresses/addresses.js';
import type { SandboxClient } from '../src/client/index.js';
import { orNullWhenMissing } from '../src/client/missing.js';
import { unanswered } from '../src/contract/workflow-safe/service-failure.js';
import {
  type ClaimRequest,
  claimSandboxUpdate,
  type HoldAnswer,
  type LeaseRequest,
  leaseSandboxUpdate,
  releaseClaimSignal,
  workflowTypes,
} from '../src/protocol/messages.js';
import type { ResultStore } from '../src/result-store/index.js';
import { isBusy } from '../src/temporal/errors.js';
import { storeTranscript, type TranscriptRequest } from './prompt/transcript.js';
import { repeatable, withHeartbeat } from './retry/attempt.js';
import { finalFailure } from './retry/classify.js';
import { deletionOfAnswer } from './sandbox/accepted-operation.js';
import { type ResultToStore, storeBeforeEnd } from './store/before-end.js';

/** The purpose of a claim. The claimant is the workflow of the activity. */
export type ClaimOptions = Pick<ClaimRequest, 'purpose' | 'ends'>;

/** The outcome of starting a deletion under a claim. */
export interface ClaimedDeletion {
  /** Others that lease the sandbox; if there are any, nothing was started. */
  readonly leasedBy: readonly string[];
  /** `unnamed`: accepted, but the service returned no id to follow. */
  readonly did: 'nothing' | 'deleting' | 'unnamed' | 'gone';
  readonly operationId: string | null;
  /** Reference of the stored result; null or absent if none was stored. */
  readonly resultRef?: string | null;
}

/** What to store before a deletion. */
export interface BeforeDeletion {
  /** The history of the sandbox. Default: none. */
  readonly transcript?: TranscriptRequest | undefined;
  /** The result of the caller. Default: none. */
  readonly result?: ResultToStore | undefined;
}

/** Lifetime of a claim without renewal, in ms. An attempt of an activity lasts at most a minute. */
const claimLastsMs = 600_000;
const answerWithinMs = 30_000;
const busyPauseMs = 400;
/**
 * A call that needs a claim must start within this time after the claim, in ms. A later call renews the claim first.
 */
const claimIsFreshMs = 20_000;

const ownId = () => activityInfo().workflowExecution?.workflowId ?? '';

async function sendUpdate<Request>(
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
            // The id is the same for every deployment, so that each finds the watch.
            staticSummary: watchSummary(sandboxId, ownId()),
          }),
        }),
      );
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadlineMs) throw error;
      await sleep(busyPauseMs * (0.5 + Math.random()));
    }
  }
}

/** Names the deployment of the workflow that starts the watch, if its id has one. */
export function watchSummary(sandboxId: string, workflowId: string): string {
  const deployment = deploymentOfWorkflow(workflowId);
  return deployment === undefined ? `watch ${sandboxId}` : `watch ${sandboxId}, deployment ${deployment}`;
}

/** Called by activities: requests or renews a claim, the right to stop or delete a sandbox. Safe to repeat. */
function claimSandbox(sandboxId: string, options: ClaimOptions, taskQueue: string): Promise<HoldAnswer> {
  const request = { ...options, claimant: ownId(), lastsMs: claimLastsMs };
  return sendUpdate(claimSandboxUpdate, request, { sandboxId, taskQueue });
}

/**
 * The claim of an attempt. `ask` requests the claim. `confirm` renews it if it is old, because a delayed attempt may
 * have timed out and its claim may have been released.
 */
export function createClaim(sandboxId: string, options: ClaimOptions, taskQueue: string) {
  let answer: HoldAnswer | undefined;
  let askedMs = Number.NEGATIVE_INFINITY;
  const askNow = async (): Promise<HoldAnswer> => {
    askedMs = performance.now();
    answer = await claimSandbox(sandboxId, options, taskQueue);
    return answer;
  };
  const confirm = async () =>
    answer?.granted && performance.now() - askedMs < claimIsFreshMs ? answer : await askNow();
  return { ask: askNow, confirm };
}

/** Releases a claim before it expires, so that the watch can end. Safe to repeat. */
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

/** @throws `sandbox_claimed` if somebody else has claimed the sandbox */
export function throwIfClaimed(sandboxId: string, held: HoldAnswer): void {
  if (held.claimedBy.length > 0) throw claimedFailure(sandboxId, held);
}

/** @throws `sandbox_claimed` as `throwIfClaimed`, or `sandbox_leased` if a lease conflicts with the claim */
export function throwIfHeld(sandboxId: string, held: HoldAnswer): void {
  throwIfClaimed(sandboxId, held);
  if (held.granted) return;
  const message = `the sandbox is leased by ${held.leasedBy.join(', ')}`;
  throw finalFailure({ ...unanswered, code: 'sandbox_leased', message, meaning: 'unavailable' });
}

function claimedFailure(sandboxId: string, { claimedBy }: HoldAnswer) {
  const message =
    claimedBy.length > 0
      ? `${claimedBy.join(', ')} holds the sandbox ${sandboxId}, to stop or delete it`
      : `Too many jobs use the sandbox ${sandboxId} at once`;
  return finalFailure({ ...unanswered, code: 'sandbox_claimed', message, meaning: 'unavailable' });
}

export function createWatchActivities(client: SandboxClient, results: ResultStore, taskQueue: string) {
  return {
    /**
     * Leases a sandbox or renews the lease; starts the watch if there is none. Safe to repeat.
     * @throws `sandbox_claimed` while somebody holds a claim to stop or delete it
     */
    leaseSandbox: (sandboxId: string, options: Omit<LeaseRequest, 'workflowId'>): Promise<null> =>
      withHeartbeat(async () => {
        const request = { ...options, workflowId: ownId() };
        const answer = await sendUpdate(leaseSandboxUpdate, request, { sandboxId, taskQueue });
        if (!answer.granted) throw claimedFailure(sandboxId, answer);
        return null;
      }),

    /**
     * Claims a sandbox, or renews the claim; the answer names others that lease it. Safe to repeat.
     * @throws `sandbox_claimed` while somebody else has claimed it
     */
    claimSandbox: (sandboxId: string, options: ClaimOptions): Promise<HoldAnswer> =>
      withHeartbeat(async () => {
        const answer = await claimSandbox(sandboxId, options, taskQueue);
        throwIfClaimed(sandboxId, answer);
        return answer;
      }),

    /**
     * Deletes a sandbox permanently, unless somebody leases it. Each attempt renews the claim, so that it does not
     * expire before a repeated call ends. The deletion cannot be cancelled; follow the operation to `completed`, then
     * release the claim. Safe to repeat.
     * @throws `sandbox_claimed` while somebody else has claimed it
     */
    async deleteClaimed(
      sandboxId: string,
      { purpose }: Pick<ClaimOptions, 'purpose'>,
      { transcript, result }: BeforeDeletion = {},
    ): Promise<ClaimedDeletion> {
      return repeatable(async (attempt): Promise<ClaimedDeletion> => {
        const { call } = attempt;
        // These come before the claim, because the deletion must follow the claim at once.
        const stored = result && { resultRef: await storeBeforeEnd(results, result) };
        if (transcript) await storeTranscript({ client, results, attempt }, transcript);
        const claim = createClaim(sandboxId, { purpose, ends: 'any' }, taskQueue);
        const held = await claim.ask();
        throwIfClaimed(sandboxId, held);
        if (!held.granted) return { leasedBy: held.leasedBy, did: 'nothing', operationId: null, ...stored };
        const answer = await orNullWhenMissing(call((signal) => client.deleteSandbox(sandboxId, { signal })));
        const operationId = deletionOfAnswer(answer);
        if (answer === null) return { leasedBy: [], did: 'gone', operationId, ...stored };
        return { leasedBy: [], did: operationId === null ? 'unnamed' : 'deleting', operationId, ...stored };
      });
    },
  };
}
