/** The state of one job. */
import { setCurrentDetails } from '@temporalio/workflow';
import { type DegradedSandbox, degradedOf, type SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { DiffBase } from '../../src/protocol/job/diff.js';
import type { JobInput, JobTiming, PromptStep } from '../../src/protocol/job/job-input.js';
import type { EnteredPhase, JobPhase } from '../../src/protocol/job/job-phases.js';
import type { JobProgress, UnrenewedAutoStop } from '../../src/protocol/job/job-progress.js';
import type {
  CollectedFile,
  DeletionResult,
  JobError,
  JobOutcome,
  JobResult,
  LeftBehind,
  PromptResult,
  StopResult,
  Wake,
} from '../../src/protocol/job/job-result.js';
import type { Resolution } from '../../src/protocol/messages.js';
import { ContinueAsNewRequest, hasLongHistory } from '../shared/continue-as-new.js';
import { type CarriedInbox, EventInbox } from '../shared/event-inbox.js';
import { defaultTiming } from '../shared/wait-intervals.js';
import type { StopMemory } from '../stop/request-stop.js';
import { jobDetails } from './details.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
/** A prompt and its status. The text is only in `step`, so that continue-as-new passes it on once. */
export interface JobPrompt extends Mutable<Omit<PromptResult, 'prompt' | 'promptRef'>> {
  readonly step: PromptStep;
}

/** Number of wakes that are kept; older ones are dropped. */
const maxWakes = 200;
/** Number of phases that are kept; older ones are dropped. */
const maxPhases = 100;

/** A command whose outcome the job may not know yet. */
export interface CommandUnderWay {
  /** 1 at first; grows by one with each resend. */
  readonly generation: number;
  readonly markerName: string;
  /** Stops of the sandbox that existed before the command was sent. */
  readonly stopIds: readonly (string | null)[];
  /** True if the command may have been sent. The job then only checks its marker. */
  readonly recover: boolean;
  /** Why it is unknown whether the command ran; null otherwise. */
  readonly unknown: JobError | null;
}

/** Steps that the newest generation of the sandbox can reach. */
export type Milestone = 'made' | 'usable' | 'prompted' | 'answered' | 'ending' | 'ended';

export class JobState {
  readonly inbox: EventInbox;
  readonly timing: JobTiming;
  startedAtMs = Date.now();
  /** For an item, infinite until its fork exists: waits before the fork do not count towards the deadline. */
  deadlineAtMs: number;
  readonly reachedAtMs = new Map<Milestone, number>();
  prompts: JobPrompt[] = [];
  wakes: Wake[] = [];
  wakeCount = 0;
  /** Number of commands that have succeeded; the job continues with the next one. */
  commandsDone = 0;
  /** The running command; null before and after. */
  command: CommandUnderWay | null = null;
  files: CollectedFile[] = [];
  /** Where the changes of the repository begin; null until it is known whether there is one. */
  diffBase: DiffBase | null = null;
  /** The patch of the repository; null before it is collected. */
  diff: CollectedFile | null = null;
  /** Sandboxes, prompts and commands that a person must look after; see `leave`. */
  left: LeftBehind[] = [];
  /** Sandboxes that were created, but could not be found for longer than a read may lag. */
  lost: SandboxView[] = [];
  /** Generation of the latest create or fork. */
  generation = 1;
  /** The newest observation of the sandbox as alive but not fully reachable; null if there was none. */
  degraded: DegradedSandbox | null = null;
  /** Why the auto-stop of the sandbox is not renewed; null if it is. */
  autoStop: UnrenewedAutoStop | null = null;
  private newest: SandboxView | null = null;
  /** When a create or fork that may have been accepted was first sent, in ms since the epoch; null before that. */
  firstSentAtMs: number | null = null;
  /** Number of decisions to create another sandbox because it was unknown whether the previous one exists. */
  resends = 0;
  /**
   * True if this run or an earlier run of the chain was created by a reset. It does not know the calls after the reset
   * point.
   */
  wasReset = false;
  /** True if an earlier run created the sandbox. */
  isFound = false;
  /** True once the sandbox was usable. */
  isObtained = false;
  isHydrated = false;
  /** Number of files written. */
  filesPut = 0;
  /** Digests, before the first prompt, of the files to collect; null for a file that did not exist. */
  fingerprints: Readonly<Record<string, string | null>> = {};
  /** Name of a sandbox that may or may not have been created. */
  unconfirmedName: string | null = null;
  /** Id of the sandbox's last stop before this job adopted or resumed it; null if there was none. */
  previousStopId: string | null = null;
  /**
   * When the job last requested a resume that may have been accepted. For a while after this time, reads may still show
   * the stopped sandbox.
   */
  resumedAtMs: number | null = null;
  /** True if events arrive through the watch, because the sandbox's name is not this job's. */
  watched = false;
  /** True once another job has leased the sandbox. This job must then claim the sandbox before it stops it. */
  isShared = false;
  setup: { status: string; error: string | null } | null = null;
  /**
   * The stop of the sandbox. Already set while the job waits for it, so that a later run of the chain does not request
   * it again.
   */
  stop: StopResult | null = null;
  /** Requests to stop that may have been accepted. */
  stopRequest: StopMemory = { asked: null };
  deletion: DeletionResult | null = null;
  outcome: JobOutcome | null = null;
  blocked: JobProgress['blocked'] = null;
  /** A person's decision about a call of unknown outcome, until it is used. */
  resolution: Resolution | null = null;
  /** True while the job accepts and sends further prompts. */
  takesPrompts = true;
  onThrottled: ((untilMs: number) => void) | undefined;
  /** Called with the reason when the job is blocked, and with null when it continues. */
  onBlocked: ((message: string | null) => void) | undefined;
  /**
   * Called when the result of the work is known, before the sandbox is stopped or deleted. Has a time limit; does not
   * throw.
   */
  beforeEnd: ((soFar: JobResult) => Promise<void>) | undefined;
  generationBeganMs = this.startedAtMs;
  phase: JobPhase = 'creating';
  sinceMs = this.startedAtMs;
  phases: EnteredPhase[] = [];
  /** True once a call that stores the history of the sandbox has succeeded. */
  isTranscriptTaken = false;
  /** Number of calls with a request to store the history. */
  transcriptRequests = 0;
  /** When the time for cleanup is over, in ms since the epoch; null before cleanup. */
  cleanUpEndsAtMs: number | null = null;
  /** True once somebody requested that the remaining files be skipped. */
  skipsCollecting = false;
  /** Cancels the collection of files during cleanup. */
  onSkipCollecting: (() => void) | undefined;

  /** The error of the result, for the details that Temporal shows; null before the end and without an error. */
  endError: JobError | null = null;

  constructor(
    readonly input: JobInput,
    inbox?: CarriedInbox,
  ) {
    this.timing = { ...defaultTiming, ...input.timing };
    this.inbox = new EventInbox(inbox);
    this.deadlineAtMs = input.origin ? Number.POSITIVE_INFINITY : this.startedAtMs + input.deadlineMs;
    for (const step of input.prompts) this.addPrompt(step);
    // A job that adopts a sandbox begins by reading it.
    if (input.source.kind !== 'existing') this.recordPhase();
  }

  /** The latest read of the sandbox. */
  get sandbox(): SandboxView | null {
    return this.newest;
  }

  set sandbox(sandbox: SandboxView | null) {
    const wasDegraded = this.newest !== null && degradedOf(this.newest) !== null;
    this.newest = sandbox;
    const degraded = sandbox && degradedOf(sandbox);
    this.degraded = degraded ?? this.degraded;
    if (wasDegraded !== (degraded !== null)) setCurrentDetails(jobDetails(this));
  }

  enter(phase: JobPhase): void {
    if (this.phase === phase && this.outcome === null) return;
    this.phase = phase;
    this.sinceMs = Date.now();
    this.recordPhase();
    setCurrentDetails(jobDetails(this));
  }

  beginGeneration(generation: number): void {
    this.generation = generation;
    this.generationBeganMs = Date.now();
    this.firstSentAtMs = null;
    this.sandbox = null;
    this.reachedAtMs.clear();
    this.isFound = false;
    if (this.input.origin) this.deadlineAtMs = Number.POSITIVE_INFINITY;
  }

  /** Records the sandbox that a create or fork returned. */
  recordCreated(sandbox: SandboxView & { readonly found?: true }): void {
    this.sandbox = sandbox;
    this.isFound = sandbox.found === true;
    // If an earlier answer was lost, the machine was started before this answer. The clocks of service and worker may
    // differ.
    const createdAtMs = Date.parse(sandbox.createdAt ?? '') || Date.now();
    const madeAtMs = Math.min(Date.now(), Math.max(createdAtMs, this.generationBeganMs));
    this.reachedAtMs.set('made', madeAtMs);
    if (this.input.origin) this.deadlineAtMs = madeAtMs + this.input.deadlineMs;
  }

  /**
   * Starts the cleanup time, unless it has already started.
   * @returns its end, in ms since the epoch
   */
  beginCleanUp(): number {
    this.cleanUpEndsAtMs ??= Date.now() + this.timing.cleanUpMs;
    return this.cleanUpEndsAtMs;
  }

  /** Adds an entry to `left`. The newest entry for a sandbox or conversation replaces older ones. */
  leave(left: Omit<LeftBehind, 'conversationId'> & { readonly conversationId?: string | null }): void {
    const named: LeftBehind = { ...left, conversationId: left.conversationId ?? null };
    const keyOf = ({ kind, sandboxId, sandboxName, conversationId }: LeftBehind) =>
      [kind, sandboxId ?? sandboxName, conversationId].join();
    this.left = [...this.left.filter((known) => keyOf(known) !== keyOf(named)), named];
  }

  /**
   * Call it only during a wait, because a new run must be able to repeat the current step.
   * @throws ContinueAsNewRequest if the history is long and cleanup has not started
   */
  continueAsNewIfDue(): void {
    if (this.mustContinueAsNew()) throw new ContinueAsNewRequest();
  }

  readonly mustContinueAsNew = (): boolean =>
    this.cleanUpEndsAtMs === null && hasLongHistory(this.input.maxHistoryEvents);

  reached(milestone: Milestone): void {
    this.reachedAtMs.set(milestone, Date.now());
  }

  addPrompt(step: PromptStep): number {
    this.prompts.push({
      step,
      promptId: null,
      conversationId: null,
      status: 'not_sent',
      result: null,
      resultRef: null,
      error: null,
      queuedAt: null,
      startedAt: null,
      endedAt: null,
    });
    return this.prompts.length - 1;
  }

  /** @param message why the auto-stop was not renewed; null if it was */
  setAutoStop(message: string | null): void {
    const { since = new Date().toISOString() } = this.autoStop ?? {};
    this.autoStop = message === null ? null : { since, stopsAt: this.sandbox?.archiveAfter ?? null, message };
  }

  block(blocked: Omit<NonNullable<JobProgress['blocked']>, 'since'>): void {
    this.blocked = { ...blocked, since: new Date().toISOString() };
    this.onBlocked?.(blocked.message);
    setCurrentDetails(jobDetails(this));
  }

  unblock(): void {
    if (this.blocked === null) return;
    this.blocked = null;
    this.onBlocked?.(null);
    setCurrentDetails(jobDetails(this));
  }

  readonly onWake = (wake: Wake): void => {
    this.wakeCount += 1;
    this.wakes.push(wake);
    if (this.wakes.length > maxWakes) this.wakes.shift();
  };

  private recordPhase(): void {
    this.phases.push({ phase: this.phase, at: new Date(this.sinceMs).toISOString() });
    if (this.phases.length > maxPhases) this.phases.shift();
  }
}
