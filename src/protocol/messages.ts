/** Names and payloads of every signal, query and update. The bridge and the command line import this file. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SandboxEvent } from '../contract/workflow-safe/states.js';
import type { CleanupProgress } from './cleanup.js';
import type { QueryOptions } from './early-query.js';
import type { ChunkGrant, ChunkPlace, ChunkReport, ChunkSubmission, SealRequest } from './fanout/batch-parts.js';
import type { FanoutProgress } from './fanout/fanout-progress.js';
import type { PromptStep } from './job/job-input.js';
import type { JobProgress } from './job/job-progress.js';
import type { StopReport, StopRequest, StopRequestView } from './stop.js';

/** Workflow types, for starting workflows by name. */
export const workflowTypes = {
  createThenPrompt: 'createThenPrompt',
  retentionCleanup: 'retentionCleanup',
  sandboxWatch: 'sandboxWatch',
  stopAndAwaitArchive: 'stopAndAwaitArchive',
  fanoutItem: 'fanoutItem',
  forkFanout: 'forkFanout',
  fanoutChunk: 'fanoutChunk',
  deliverNotification: 'deliverNotification',
  scheduledRun: 'scheduledRun',
  promptFollower: 'promptFollower',
} as const;

export type { SandboxEvent } from '../contract/workflow-safe/states.js';
export const sandboxEventSignal = defineSignal<[SandboxEvent]>('sandboxEvent');

/** Returns the progress of a job. */
export const progressQuery = defineQuery<JobProgress, [QueryOptions?]>('progress');

/** Makes an ending job skip the remaining files and end its sandbox immediately. Safe to repeat. */
export const skipCollectingSignal = defineSignal('skipCollecting');

/**
 * Sent by a job that leases another job's sandbox. The other job then claims its sandbox before it stops it. Safe to
 * repeat.
 */
export const sandboxSharedSignal = defineSignal('sandboxShared');

/** A workflow that waits for the end of a prompt in its own sandbox. */
export interface FollowRegistration {
  readonly workflowId: string;
  readonly sandboxId: string;
  /** When the wait began, in ms since the epoch. Older waits need a read less often. */
  readonly sinceMs: number;
  /** When the registration expires, in ms since the epoch. */
  readonly untilMs: number;
}

/** To the follower of prompts: registers a workflow until its sandbox has left `running`. Safe to repeat. */
export const followSignal = defineSignal<[FollowRegistration]>('follow');

/** What the follower of prompts follows. */
export interface Followed extends FollowRegistration {
  /** Names this registration within a run of the follower. A workflow that registers again gets a higher one. */
  readonly number: number;
}

/** Returns the registrations with the lowest numbers above `after`: at most `maxFollowedInAnswer`. Default: 0. */
export const followedQuery = defineQuery<readonly Followed[], [(QueryOptions & { readonly after?: number })?]>(
  'followed',
);

/**
 * From the follower of prompts: the sandbox has left `running`, so the prompt in it may have ended. The receiver reads.
 * Safe to repeat.
 */
export const leftRunningSignal = defineSignal<[{ readonly sandboxId: string }]>('leftRunning');

/** Adds a prompt to a running job, in its first conversation, after its other prompts. */
export const promptUpdate = defineUpdate<{ readonly index: number }, [PromptStep]>('prompt');

/** A person's decision about a call whose outcome is unknown. */
export interface Resolution {
  /** `sent`: the call took effect. `resend`: it did not; repeat it. `abandon`: end the job as `outcome_unknown`. */
  readonly action: 'sent' | 'resend' | 'abandon';
  /** With `sent` for a create: the sandbox that it created. */
  readonly sandboxId?: string;
  /** With `sent` for a prompt: the conversation or prompt that it created, if known. */
  readonly conversationId?: string;
  /** With `sent` for a prompt: the id of the prompt, if known. */
  readonly promptId?: string;
}
export const resolveUpdate = defineUpdate<{ readonly step: string }, [Resolution]>('resolve');

/**
 * Registers a workflow for the events of a sandbox that it does not own. The registration expires unless it is renewed.
 */
export interface WatchRegistration {
  readonly workflowId: string;
  /** Lifetime from the time when the watch receives the registration, in ms. */
  readonly lastsMs: number;
}
export const watchRegisterSignal = defineSignal<[WatchRegistration]>('watchRegister');
/** Unregisters a workflow, and releases its lease. Safe to repeat. */
export const watchUnregisterSignal = defineSignal<[{ readonly workflowId: string }]>('watchUnregister');

/**
 * The use of a lease. `work`: the holder works in the machine, which must keep running. `fork`: the holder needs only the
 * content: it copies it, or waits for the end of a stop.
 */
export type LeaseUse = 'work' | 'fork';

/**
 * During a lease, nobody else gets a claim that would end this use of the sandbox. The holder of the lease also
 * receives the sandbox's events.
 */
export interface LeaseRequest {
  readonly workflowId: string;
  readonly use: LeaseUse;
  /** Lifetime from the time of the grant, in ms. */
  readonly lastsMs: number;
}

/** During a claim, nobody else is granted a lease or a claim, and the claimant receives the events of the sandbox. */
export interface ClaimRequest {
  readonly claimant: string;
  /** Distinguishes simultaneous claims of one claimant. */
  readonly purpose: string;
  /** The kind of lease that the claim conflicts with: a stop ends `work`, a deletion ends any use. */
  readonly ends: LeaseUse | 'any';
  /** Lifetime from the time of the grant, in ms. */
  readonly lastsMs: number;
}

/** The claim of a stop workflow that resumes a sandbox to stop it again. It is released once the next stop is accepted. */
export const stopAgainClaim = { purpose: 'escalate', ends: 'work' } as const satisfies Partial<ClaimRequest>;

/** The claim of a stop workflow that deletes a sandbox. It is released once the deletion has ended. */
export const deletionClaim = { purpose: 'escalate', ends: 'any' } as const satisfies Partial<ClaimRequest>;

export interface HoldAnswer {
  readonly granted: boolean;
  /** Other workflows that have claimed the sandbox; at most ten. */
  readonly claimedBy: readonly string[];
  /** Other workflows whose leases conflict with the request; at most ten. */
  readonly leasedBy: readonly string[];
}

/** Requests or renews a lease. Refused while somebody else holds a claim. Safe to repeat. */
export const leaseSandboxUpdate = defineUpdate<HoldAnswer, [LeaseRequest]>('leaseSandbox');

/** Requests or renews the right to stop or delete a sandbox. Refused while others hold that right. Safe to repeat. */
export const claimSandboxUpdate = defineUpdate<HoldAnswer, [ClaimRequest]>('claimSandbox');

/** Returns the workflows that work in the machine under a lease; at most ten. */
export const workingHoldersQuery = defineQuery<readonly string[], [QueryOptions?]>('workingHolders');

export const releaseClaimSignal = defineSignal<[Pick<ClaimRequest, 'claimant' | 'purpose'>]>('releaseClaim');

/** Returns the progress of a cleanup. */
export const cleanupProgressQuery = defineQuery<CleanupProgress, [QueryOptions?]>('cleanupProgress');

/**
 * Requests a stop of the sandbox. Returns once the service has accepted or temporarily refused the stop, or the request
 * has ended. Otherwise the request continues after the return. Safe to repeat with the same request id.
 */
export const requestStopUpdate = defineUpdate<StopRequestView, [StopRequest]>('requestStop');

/** The service throttles the fork of an item. The item retries at `untilMs`, in ms since the epoch. */
export interface FanoutThrottled {
  readonly index: number;
  readonly untilMs: number;
}
/** From an item to its chunk. */
export const fanoutThrottledSignal = defineSignal<[FanoutThrottled]>('fanoutThrottled');

/** Reports why an item cannot continue by itself; `message` is null once it can. */
export interface FanoutBlocked {
  readonly index: number;
  readonly message: string | null;
}
/** From an item to its chunk. */
export const fanoutBlockedSignal = defineSignal<[FanoutBlocked]>('fanoutBlocked');

/** The type of a refusal of `addChunk` and `seal` by a run that ends before the result store answers. Send it again. */
export const notStored = 'not_stored';

/** Adds items to a batch. Returns once they are stored. Safe to repeat: a known chunk changes nothing. */
export const addChunkUpdate = defineUpdate<{ readonly isNew: boolean }, [ChunkSubmission]>('addChunk');

/** Declares that a batch has all its items. Safe to repeat. */
export const sealUpdate = defineUpdate<{ readonly isNew: boolean }, [SealRequest]>('seal');

/** Lets a held batch start items again. `wasHeld` is false if it was not held. Safe to repeat. */
export const goOnUpdate = defineUpdate<{ readonly wasHeld: boolean }>('goOn');

/** Returns the progress of a batch. */
export const fanoutProgressQuery = defineQuery<FanoutProgress, [QueryOptions?]>('fanoutProgress');

/** Returns where the items of a batch are, with their digests. */
export const fanoutPlacesQuery = defineQuery<readonly ChunkPlace[], [QueryOptions?]>('fanoutPlaces');

/** From a batch to a chunk: its grant. */
export const chunkGrantSignal = defineSignal<[ChunkGrant]>('chunkGrant');

/** From a chunk to its batch: its progress. */
export const chunkReportSignal = defineSignal<[ChunkReport]>('chunkReport');

/** Returns the progress of each request to stop the sandbox. */
export const stopReportQuery = defineQuery<StopReport, [QueryOptions?]>('stopReport');
