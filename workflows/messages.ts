/** The names and payloads of every signal, query and update. Bridge and command line import this file. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SandboxEventType } from '../src/contract/states.js';
import type { CleanupProgress } from './cleanup/types.js';
import type { ChunkGrant, ChunkReport, ChunkSubmission, SealRequest } from './fanout/protocol.js';
import type { FanoutProgress } from './fanout/types.js';
import type { JobProgress, PromptStep } from './job/types.js';
import type { StopReport, StopRequest, StopRequestView } from './stop/types.js';

/** Workflow types, for those who start workflows by name. */
export const workflowTypes = {
  createThenPrompt: 'createThenPrompt',
  retentionCleanup: 'retentionCleanup',
  sandboxWatch: 'sandboxWatch',
  stopAndAwaitArchive: 'stopAndAwaitArchive',
  fanoutItem: 'fanoutItem',
  forkFanout: 'forkFanout',
  fanoutChunk: 'fanoutChunk',
  deliverNotification: 'deliverNotification',
} as const;

/** A lifecycle event of a sandbox, as the bridge hands it on. A hint: the next call to the service is the truth. */
export interface SandboxEvent {
  /** The event's id, the same for every delivery. Receivers drop what they have seen. */
  readonly id: string;
  /** Event type (specification, "Event types"). */
  readonly type: SandboxEventType;
  /** When the service created the event, as an ISO 8601 time. */
  readonly createdAt: string;
  /** Id of the sandbox. */
  readonly sandboxId: string;
  /** Name of the sandbox. */
  readonly sandboxName: string;
  /** State before the event; absent from `sandbox.hydrated`. */
  readonly previousState?: string;
  /** State after the event; absent from `sandbox.hydrated`. */
  readonly state?: string;
}
export const sandboxEventSignal = defineSignal<[SandboxEvent]>('sandboxEvent');

/** Where a job is. */
export const progressQuery = defineQuery<JobProgress>('progress');

/** Tells a job that ends to collect no files any more: its sandbox is to end now. */
export const skipCollectingSignal = defineSignal('skipCollecting');

/** From a job that leases the sandbox of another job, to that one: it asks for leases before it stops its sandbox. */
export const sandboxSharedSignal = defineSignal('sandboxShared');

/** Sends one more prompt to a live job, into its first conversation, after those that it already has. */
export const promptUpdate = defineUpdate<{ readonly index: number }, [PromptStep]>('prompt');

/** What a person decides about a call of which nobody can know whether it took effect. */
export interface Resolution {
  /** `sent`: it did. `resend`: it did not, do it again. `abandon`: end the job as `outcome_unknown`. */
  readonly action: 'sent' | 'resend' | 'abandon';
  /** With `sent` for a create: the sandbox that it made. */
  readonly sandboxId?: string;
  /** With `sent` for a prompt: the conversation or prompt that it made, where known. */
  readonly conversationId?: string;
  /** With `sent` for a prompt: the id of the prompt, if known. */
  readonly promptId?: string;
}
export const resolveUpdate = defineUpdate<{ readonly step: string }, [Resolution]>('resolve');

/** A workflow that wants the events of a sandbox that it does not own. Expires unless renewed. */
export interface WatchRegistration {
  readonly workflowId: string;
  /** From when the watch hears of it, in ms. */
  readonly lastsMs: number;
}
export const watchRegisterSignal = defineSignal<[WatchRegistration]>('watchRegister');
/** Leaves the watch, and gives up the lease. */
export const watchUnregisterSignal = defineSignal<[{ readonly workflowId: string }]>('watchUnregister');

/** What a sandbox is leased for. `work`: in its machine, which must run on. `fork`: what it holds is copied. */
export type LeaseUse = 'work' | 'fork';

/** While a lease lasts, nobody else is granted a claim that would end its use. It brings the sandbox's events, too. */
export interface LeaseRequest {
  readonly workflowId: string;
  readonly use: LeaseUse;
  /** From when it is granted, in ms. */
  readonly lastsMs: number;
}

/** While a claim lasts, nobody else is granted a lease or a claim. */
export interface ClaimRequest {
  readonly claimant: string;
  /** Tells claims of one claimant apart, which may stand side by side. */
  readonly purpose: string;
  /** The uses that it would end: a stop ends `work`, a deletion any. */
  readonly ends: LeaseUse | 'any';
  /** From when it is granted, in ms. */
  readonly lastsMs: number;
}

export interface HoldAnswer {
  readonly granted: boolean;
  /** Others that have claimed the sandbox; ten at most. */
  readonly claimedBy: readonly string[];
  /** Others that lease it in a way that is asked about; ten at most. */
  readonly leasedBy: readonly string[];
}

/** Asks for a lease, or renews it. Refused while another's claim stands. Safe to repeat. */
export const leaseSandboxUpdate = defineUpdate<HoldAnswer, [LeaseRequest]>('leaseSandbox');

/** Asks for the right to stop or delete a sandbox, or renews it. Refused while others hold it. Safe to repeat. */
export const claimSandboxUpdate = defineUpdate<HoldAnswer, [ClaimRequest]>('claimSandbox');

/** Gives a claim back that was granted. */
export const releaseClaimSignal = defineSignal<[Pick<ClaimRequest, 'claimant' | 'purpose'>]>('releaseClaim');

/** Where a cleanup is. */
export const cleanupProgressQuery = defineQuery<CleanupProgress>('cleanupProgress');

/**
 * Asks for the sandbox to be stopped. Answers when the service has accepted the stop, when the request has ended, or
 * when the service refuses for now; it goes on in any case. Safe to repeat with the same request id.
 */
export const requestStopUpdate = defineUpdate<StopRequestView, [StopRequest]>('requestStop');

/** The service throttles the fork of an item, which asks again at `untilMs`, in ms since the epoch. */
export interface FanoutThrottled {
  readonly index: number;
  readonly untilMs: number;
}
/** From an item to its chunk. */
export const fanoutThrottledSignal = defineSignal<[FanoutThrottled]>('fanoutThrottled');

/** Why an item does not go on by itself; null when it does again. */
export interface FanoutBlocked {
  readonly index: number;
  readonly message: string | null;
}
/** From an item to its chunk. */
export const fanoutBlockedSignal = defineSignal<[FanoutBlocked]>('fanoutBlocked');

/** Hands a batch some of its items. Answers when they are stored. A chunk that it knows changes nothing. */
export const addChunkUpdate = defineUpdate<{ readonly isNew: boolean }, [ChunkSubmission]>('addChunk');

/** Says that a batch has all its items. Safe to repeat. */
export const sealUpdate = defineUpdate<{ readonly isNew: boolean }, [SealRequest]>('seal');

/** Where a batch is. */
export const fanoutProgressQuery = defineQuery<FanoutProgress>('fanoutProgress');

/** From a batch to a chunk: how much of everything it may have. */
export const chunkGrantSignal = defineSignal<[ChunkGrant]>('chunkGrant');

/** From a chunk to its batch: how far it is. */
export const chunkReportSignal = defineSignal<[ChunkReport]>('chunkReport');

/** Where each request to stop the sandbox is. */
export const stopReportQuery = defineQuery<StopReport>('stopReport');
