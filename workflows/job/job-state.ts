/** The state of one job. */
import { setCurrentDetails } from '@temporalio/workflow';
import type { SeenSandbox } from '../../activities/prompt/end.js';
import type { ResultToStore } from '../../activities/store/before-end.js';
import { degradedOf, type SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { JobInput, JobTiming, PromptStep } from '../../src/protocol/job/job-input.js';
import type { JobPhase } from '../../src/protocol/job/job-phases.js';
import type { JobProgress } from '../../src/protocol/job/job-progress.js';
import type {
  CheckRun,
  DeletionResult,
  JobError,
  JobOutcome,
  JobResult,
  LeftBehind,
  Wake,
} from '../../src/protocol/job/job-result.js';
import type { Resolution } from '../../src/protocol/messages.js';
import { ContinueAsNewRequest, hasLongHistory } from '../shared/continue-as-new.js';
import { EventInbox } from '../shared/event-inbox.js';
import type { JobTermination } from '../shared/job-termination.js';
import { observePhase } from '../shared/metrics.js';
import { showAttributes } from '../shared/search-attributes.js';
import { defaultTiming } from '../shared/wait-intervals.js';
import { type CarriedJob, type JobPrompt, type Milestone, newJob, unsentPrompt } from './carried-job.js';
import { isPastPrompts } from './checks/judge-round.js';
import { wasReset } from './was-reset.js';

/** Number of wakes that are kept; older ones are dropped. */
const maxWakes = 200;
/** Number of phases that are kept; older ones are dropped. */
const maxPhases = 100;

/** The state of one run of a job: what it hands on, and what the next run computes again or does not need. */
export class JobState {
  readonly carried: CarriedJob;
  readonly timing: JobTiming;
  readonly inbox: EventInbox;
  deletion: DeletionResult | null = null;
  outcome: JobOutcome | null = null;
  blocked: JobProgress['blocked'] = null;
  /** What the job did when its deadline passed. */
  deadlineIn: JobPhase | 'blocked' | undefined;
  /** By index: whether an interrupt hit the agent at work; undefined if its answer does not say; absent if refused. */
  readonly wasAtWork = new Map<number, boolean | undefined>();
  /** A person's decision about a call of unknown outcome, until it is used. */
  resolution: Resolution | null = null;
  /** True while the job accepts and sends further prompts. */
  takesPrompts: boolean;
  onThrottled: ((untilMs: number) => void) | undefined;
  /** Called with the reason when the job is blocked, and with null when it continues. */
  onBlocked: ((message: string | null) => void) | undefined;
  /** Says what to store when the result of the work is known, before the sandbox is stopped or deleted. Default: nothing. */
  beforeEnd: ((soFar: JobResult) => Omit<ResultToStore, 'untilMs'>) | undefined;
  /** What the call that ends the sandbox stores, until `takeResultToStore`. */
  resultToStore: ResultToStore | undefined;
  /** Reference of what such a call has stored; null if nothing was stored. */
  storedRef: string | null = null;
  /** Number of hints that the prompt may have ended. */
  hintsOfEnd = 0;
  /** When something last showed the sandbox in `running`, in ms since the epoch; 0 for never. */
  seenRunningAtMs = 0;
  /** When a renewal of the auto-stop that did not show the sandbox last made the job look, in ms since the epoch. */
  blindRenewalAtMs = Number.NEGATIVE_INFINITY;
  /** The sandbox as the follow of the last prompt saw it at its end. */
  seenAtEnd: SeenSandbox | undefined;
  /** True once a call that stores the history of the sandbox has succeeded. */
  isTranscriptTaken = false;
  /** Why the work ended without success, before its files were collected; null if it did not. */
  failed: JobTermination | null = null;
  /** How the commands of every end ran; undefined before them. */
  always: CheckRun[] | undefined;
  /** Number of calls with a request to store the history. */
  transcriptRequests = 0;
  /** When the time for cleanup is over, in ms since the epoch; null before cleanup. */
  cleanUpEndsAtMs: number | null = null;
  /** Why the work was cut short; null if it was not. */
  cutShort: NonNullable<JobProgress['cutShort']> | null = null;
  /** True once somebody requested that the remaining files be skipped. */
  skipsCollecting = false;
  /** Cancels the collection of files during cleanup. */
  onSkipCollecting: (() => void) | undefined;
  /** The error of the result, for the details that Temporal shows; null before the end and without an error. */
  endError: JobError | null = null;

  /** @param carried what the run before handed on. Default: the job begins */
  constructor(
    readonly input: JobInput,
    carried?: CarriedJob,
  ) {
    this.timing = { ...defaultTiming, ...input.timing };
    this.carried = carried ?? newJob(input, Date.now());
    this.takesPrompts = !isPastPrompts(this.carried, input);
    this.inbox = new EventInbox(carried?.inbox);
    // A job that adopts a sandbox begins by reading it.
    if (!carried && input.source.kind !== 'existing') this.recordPhase();
  }

  /** The latest read of the sandbox. */
  get sandbox(): SandboxView | null {
    return this.carried.sandbox;
  }

  set sandbox(sandbox: SandboxView | null) {
    const { carried } = this;
    const wasDegraded = carried.sandbox !== null && degradedOf(carried.sandbox) !== null;
    carried.sandbox = sandbox;
    if (sandbox) showAttributes({ sandbox: sandbox.id });
    const degraded = sandbox && degradedOf(sandbox);
    carried.degraded = degraded ?? carried.degraded;
    if (wasDegraded !== (degraded !== null)) setCurrentDetails(jobDetails(this));
  }

  /** What the next run receives. */
  carry(): CarriedJob {
    return { ...this.carried, inbox: this.inbox.carry() };
  }

  /** @param atMs when the phase began, in ms since the epoch, by another clock. Default: now */
  enter(phase: JobPhase, atMs = Date.now()): void {
    // At the latest here, lists learn when a job that was reset began.
    wasReset(this.carried);
    const { phase: left, sinceMs } = this.carried;
    if (left === phase && this.outcome === null) return;
    this.carried.phase = phase;
    this.carried.sinceMs = Math.max(sinceMs, Math.min(atMs, Date.now()));
    observePhase(left, this.carried.sinceMs - sinceMs);
    this.recordPhase();
    setCurrentDetails(jobDetails(this));
  }

  beginGeneration(generation: number): void {
    this.carried.generation = generation;
    this.carried.generationBeganMs = Date.now();
    this.carried.firstSentAtMs = null;
    this.sandbox = null;
    this.carried.reachedAtMs = {};
    this.carried.isFound = false;
    if (this.input.origin) this.carried.deadlineAtMs = null;
  }

  /** Records the sandbox that a create or fork returned. */
  recordCreated(sandbox: SandboxView & { readonly found?: true }): void {
    this.sandbox = sandbox;
    this.carried.isFound = sandbox.found === true;
    // If an earlier answer was lost, the machine was started before this answer. The clocks of service and worker may
    // differ.
    const createdAtMs = Date.parse(sandbox.createdAt ?? '') || Date.now();
    const madeAtMs = Math.min(Date.now(), Math.max(createdAtMs, this.carried.generationBeganMs));
    this.carried.reachedAtMs.made = madeAtMs;
    if (this.input.origin) this.carried.deadlineAtMs = madeAtMs + this.input.deadlineMs;
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
    this.carried.left = [...this.carried.left.filter((known) => keyOf(known) !== keyOf(named)), named];
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

  reached(milestone: Milestone, atMs = Date.now()): void {
    this.carried.reachedAtMs[milestone] = atMs;
  }

  /** Adds a prompt after those of the input. @returns its place in the job, from 0 */
  addPrompt(step: PromptStep): number {
    this.carried.addedPrompts.push(step);
    return this.carried.prompts.push(unsentPrompt()) - 1;
  }

  /** What each prompt says, in the order of `carried.prompts`. */
  get steps(): readonly PromptStep[] {
    return [...this.input.prompts, ...this.carried.addedPrompts];
  }

  /** @throws RangeError if the job has no such prompt */
  stepOf(index: number): PromptStep {
    return there(this.steps[index], index);
  }

  /** @throws RangeError if the job has no such prompt */
  promptOf(index: number): JobPrompt {
    return there(this.carried.prompts[index], index);
  }

  /** @param answer of a call that ends the sandbox */
  noteStored({ resultRef }: { readonly resultRef?: string | null }): void {
    this.storedRef = resultRef ?? this.storedRef;
  }

  /**
   * Only the first call that ends the sandbox gets it: a refused call has stored it before, and each further copy would
   * lengthen the history.
   */
  takeResultToStore(): ResultToStore | undefined {
    const result = this.resultToStore;
    this.resultToStore = undefined;
    return result;
  }

  /** @param message why the auto-stop was not renewed; null if it was */
  setAutoStop(message: string | null): void {
    const { since = new Date().toISOString() } = this.carried.autoStop ?? {};
    this.carried.autoStop = message === null ? null : { since, stopsAt: this.sandbox?.archiveAfter ?? null, message };
  }

  block(blocked: Omit<NonNullable<JobProgress['blocked']>, 'since'>): void {
    this.blocked = { ...blocked, since: new Date().toISOString() };
    showAttributes({ blocked: blocked.reason });
    this.onBlocked?.(blocked.message);
    setCurrentDetails(jobDetails(this));
  }

  unblock(): void {
    if (this.blocked === null) return;
    this.blocked = null;
    showAttributes({ blocked: null });
    this.onBlocked?.(null);
    setCurrentDetails(jobDetails(this));
  }

  readonly onWake = (wake: Wake): void => {
    this.carried.wakeCount += 1;
    this.carried.wakes.push(wake);
    if (this.carried.wakes.length > maxWakes) this.carried.wakes.shift();
  };

  private recordPhase(): void {
    this.carried.phases.push({ phase: this.carried.phase, at: new Date(this.carried.sinceMs).toISOString() });
    if (this.carried.phases.length > maxPhases) this.carried.phases.shift();
  }
}

function there<T>(found: T | undefined, index: number): T {
  if (found === undefined) throw new RangeError(`The job has no prompt ${index}`);
  return found;
}

/** What Temporal shows of a job while it runs and after its end, as Markdown. */
function jobDetails({ carried, sandbox, blocked, outcome, endError }: JobState): string {
  const { phase, sinceMs } = carried;
  const lines = [`**${phase.replaceAll('_', ' ')}** since ${new Date(sinceMs).toISOString()}`];
  if (sandbox) lines.push(`Sandbox ${sandbox.id}`);
  const degraded = sandbox && degradedOf(sandbox);
  if (degraded) lines.push(`Degraded: ${degraded.reason ?? 'the service gives no reason'}`);
  if (outcome) lines.push(`Outcome: ${outcome}`);
  if (endError) lines.push(`Error: ${endError.code}: ${endError.message}`);
  if (blocked && !outcome) lines.push(`Blocked: ${blocked.message}`);
  return lines.join('\n\n');
}
