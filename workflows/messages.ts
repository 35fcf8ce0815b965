/** The names and payloads of every signal, query and update. Bridge and command line import this file. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SandboxEventType } from '../src/contract/states.js';
import type { CleanupProgress } from './cleanup.js';
import type { FanoutProgress } from './fanout.js';
import type { ChunkGrant, ChunkReport, ChunkWish, SealWish } from './fanout-parts.js';
import type { JobProgress, PromptStep } from './job.js';
import type { StopReport, StopRequest, StopRequestView } from './stop.js';

/** Workflow types, for those who start workflows by name. */
export const workflowTypes = {
  createThenPrompt: 'createThenPrompt',
  retentionCleanup: 'retentionCleanup',
  sandboxWatch: 'sandboxWatch',
  stopAndAwaitArchive: 'stopAndAwaitArchive',
  fanoutItem: 'fanoutItem',
  forkFanout: 'forkFanout',
  fanoutChunk: 'fanoutChunk',
} as const;

/** A lifecycle event of a sandbox, as the bridge hands it on. A hint: the next call to the service is the truth. */
export interface SandboxEvent {
  /** The event's id, the same for every delivery. Receivers drop what they have seen. */
  readonly id: string;
  readonly type: SandboxEventType;
  readonly createdAt: string;
  readonly sandboxId: string;
  readonly sandboxName: string;
  readonly previousState?: string;
  readonly state?: string;
}
export const sandboxEventSignal = defineSignal<[SandboxEvent]>('sandboxEvent');

/** Where a job is. */
export const progressQuery = defineQuery<JobProgress>('progress');

/** Tells a job that ends to collect no files any more: its sandbox is to end now. */
export const skipCollectingSignal = defineSignal('skipCollecting');

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
  readonly promptId?: string;
}
export const resolveUpdate = defineUpdate<{ readonly step: string }, [Resolution]>('resolve');

/** A workflow that wants the events of a sandbox that it does not own. Expires unless renewed. */
export interface WatchRegistration {
  readonly workflowId: string;
  readonly expiresAt: string;
  /** True when the sandbox must not be deleted while the registration lasts. */
  readonly lease: boolean;
}
export const watchRegisterSignal = defineSignal<[WatchRegistration]>('watchRegister');
export const watchUnregisterSignal = defineSignal<[{ readonly workflowId: string }]>('watchUnregister');

/** Asks whether a sandbox may be deleted: refused while somebody holds a lease on it. */
export const claimDeleteUpdate = defineUpdate<
  { readonly granted: boolean; readonly leasedBy: readonly string[] },
  [{ readonly claimant: string; readonly expiresAt: string }]
>('claimDelete');

/** Gives a claim back that was granted. */
export const releaseClaimSignal = defineSignal<[{ readonly claimant: string }]>('releaseClaim');

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
export const addChunkUpdate = defineUpdate<{ readonly isNew: boolean }, [ChunkWish]>('addChunk');

/** Says that a batch has all its items. Safe to repeat. */
export const sealUpdate = defineUpdate<{ readonly isNew: boolean }, [SealWish]>('seal');

/** Where a batch is. */
export const fanoutProgressQuery = defineQuery<FanoutProgress>('fanoutProgress');

/** From a batch to a chunk: how much of everything it may have. */
export const chunkGrantSignal = defineSignal<[ChunkGrant]>('chunkGrant');

/** From a chunk to its batch: how far it is. */
export const chunkReportSignal = defineSignal<[ChunkReport]>('chunkReport');

/** Where each request to stop the sandbox is. */
export const stopReportQuery = defineQuery<StopReport>('stopReport');
