/** The state of one job: what it knows, what it shows, what it will report. */
import { patched, setCurrentDetails } from '@temporalio/workflow';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import type { Resolution } from '../messages.js';
import { ContinueAsNewRequest, hasLongHistory } from '../shared/continue-as-new.js';
import { EventInbox } from '../shared/event-inbox.js';
import { defaultTiming } from '../shared/timing.js';
import type { StopMemory } from '../stop/request-stop.js';
import { type CarriedJob, resumeJob } from './carry-over.js';
import { truncateResult } from './truncate-result.js';
import type {
  CollectedFile,
  DeletionResult,
  JobError,
  JobInput,
  JobOutcome,
  JobPhase,
  JobProgress,
  JobResult,
  JobTiming,
  LeftBehind,
  PromptResult,
  PromptStep,
  StopResult,
  Wake,
} from './types.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
/** Its text is in the step alone, so that a job that goes on as new hands it on once. */
export interface JobPrompt extends Mutable<Omit<PromptResult, 'prompt' | 'promptRef'>> {
  readonly step: PromptStep;
}

/** The newest are kept. */
const maxWakes = 200;

/** A command of which the job may not know yet what became of it. */
export interface CommandUnderWay {
  /** 1, and one more each time that it is sent again. */
  readonly generation: number;
  readonly markerName: string;
  /** Stops of the sandbox that were there before it was sent. */
  readonly stopIds: readonly (string | null)[];
  /** True when it may have been sent: then it is only looked for. */
  readonly recover: boolean;
  /** Why nobody can know whether it ran, where that is so. */
  readonly unknown: JobError | null;
}

/** How far the newest generation of the sandbox came. */
export type Milestone = 'made' | 'usable' | 'prompted' | 'answered' | 'ending' | 'ended';

export class JobState {
  readonly inbox: EventInbox;
  readonly timing: JobTiming;
  startedAtMs = Date.now();
  /** Without end until an item's fork is made: what it waits for until then does not eat its time. */
  deadlineAtMs: number;
  readonly reachedAtMs = new Map<Milestone, number>();
  prompts: JobPrompt[] = [];
  wakes: Wake[] = [];
  wakeCount = 0;
  /** How many of the commands have ended well. The next one is the first that is run. */
  commandsDone = 0;
  /** The command that is being run; null before and after. */
  command: CommandUnderWay | null = null;
  files: CollectedFile[] = [];
  /** What somebody has to look after; see `leave`. */
  left: LeftBehind[] = [];
  /** Sandboxes that were made, and then not found for longer than a read may lag. */
  lost: SandboxView[] = [];
  /** Of the create or fork that was tried last. */
  generation = 1;
  /** The sandbox as it was last seen. */
  sandbox: SandboxView | null = null;
  /** When the create or fork was first sent, as far as it may have been accepted; null before that. */
  firstSentAtMs: number | null = null;
  /** How often it was decided to make another one, because nobody knew whether there was one. */
  resends = 0;
  /** True where this run, or an earlier one of the chain, was reset: what was sent after that point is forgotten. */
  wasReset = false;
  /** True when an earlier run made the sandbox. */
  isFound = false;
  /** True once the sandbox could be used. */
  isObtained = false;
  isHydrated = false;
  /** How many files were put. */
  filesPut = 0;
  /** Digests of the files to collect, as they were before the first prompt; null where there was none. */
  fingerprints: Readonly<Record<string, string | null>> = {};
  /** Name of a sandbox of which it is not known whether it was made. */
  unconfirmedName: string | null = null;
  /** The last stop of the sandbox that is not this job's own. */
  previousStopId: string | null = null;
  /** When the job last asked for a resume that may have been accepted: reads may show the stopped sandbox for a while. */
  resumedAtMs: number | null = null;
  /** True when events come by the watch, because the sandbox's name is not this job's. */
  watched = false;
  /** True once another job has leased the sandbox: it is asked for before it is stopped. */
  isShared = false;
  setup: { status: string; error: string | null } | null = null;
  /** While it is waited for, too: what an earlier run of the chain has asked for is not asked for again. */
  stop: StopResult | null = null;
  /** What is remembered of requests to stop that may have been accepted. */
  stopRequest: StopMemory = { asked: null };
  deletion: DeletionResult | null = null;
  apiCalls = 0;
  outcome: JobOutcome | null = null;
  blocked: JobProgress['blocked'] = null;
  /** What a person decided about a call of unknown outcome, until it is used. */
  resolution: Resolution | null = null;
  /** True while a prompt that is added now will still be sent. */
  takesPrompts = true;
  onThrottled: ((untilMs: number) => void) | undefined;
  /** Told why the job does not go on by itself, and null when it does again. */
  onBlocked: ((message: string | null) => void) | undefined;
  /** Called when it is known what became of the work, before the sandbox is ended. It is bounded, and does not throw. */
  beforeEnd: ((soFar: JobResult) => Promise<void>) | undefined;
  generationBeganMs = this.startedAtMs;
  phase: JobPhase = 'creating';
  sinceMs = this.startedAtMs;
  /** When the time for cleaning up is over; null while the job works. */
  cleanUpEndsAtMs: number | null = null;
  /** True once somebody wants the sandbox to end without its files. */
  skipsCollecting = false;
  /** Cuts the collecting of files while the job ends. */
  onSkipCollecting: (() => void) | undefined;

  constructor(
    readonly input: JobInput,
    carried?: CarriedJob,
  ) {
    this.timing = { ...defaultTiming, ...input.timing };
    this.inbox = new EventInbox(carried?.inbox, () => patched('a full inbox drops of the busiest sandbox'));
    this.deadlineAtMs = input.origin ? Number.POSITIVE_INFINITY : this.startedAtMs + input.deadlineMs;
    if (carried) resumeJob(this, carried);
    else for (const step of input.prompts) this.addPrompt(step);
  }

  enter(phase: JobPhase): void {
    if (this.phase === phase && this.outcome === null) return;
    this.phase = phase;
    this.sinceMs = Date.now();
    this.showDetails();
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

  /** Takes the sandbox that a create or fork gave. */
  make(sandbox: SandboxView & { readonly found?: true }): void {
    this.sandbox = sandbox;
    this.isFound = sandbox.found === true;
    // Where the answer was lost at first, the machine has run since before this one; clocks may differ.
    const createdAtMs = Date.parse(sandbox.createdAt ?? '') || Date.now();
    const madeAtMs = Math.min(Date.now(), Math.max(createdAtMs, this.generationBeganMs));
    this.reachedAtMs.set('made', madeAtMs);
    if (this.input.origin) this.deadlineAtMs = madeAtMs + this.input.deadlineMs;
  }

  /** Begins the time for cleaning up, once: from a cancel or the deadline on. */
  beginCleanUp(): number {
    this.cleanUpEndsAtMs ??= Date.now() + this.timing.cleanUpMs;
    return this.cleanUpEndsAtMs;
  }

  /** Names what somebody has to look after; the newest word of a sandbox or conversation stands. */
  leave(left: Omit<LeftBehind, 'conversationId'> & { readonly conversationId?: string | null }): void {
    const named: LeftBehind = { ...left, conversationId: left.conversationId ?? null };
    const keyOf = ({ kind, sandboxId, sandboxName, conversationId }: LeftBehind) =>
      [kind, sandboxId ?? sandboxName, conversationId].join();
    this.left = [...this.left.filter((known) => keyOf(known) !== keyOf(named)), named];
  }

  /**
   * For waits, where nothing is under way that a new run could not begin again.
   * @throws ContinueAsNewRequest when the history is long and the job still works
   */
  goOnAsNewIfDue(): void {
    if (this.mustGoOn()) throw new ContinueAsNewRequest();
  }

  readonly mustGoOn = (): boolean => this.cleanUpEndsAtMs === null && hasLongHistory(this.input.maxHistoryEvents);

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

  block(blocked: Omit<NonNullable<JobProgress['blocked']>, 'since'>): void {
    this.blocked = { ...blocked, since: new Date().toISOString() };
    this.onBlocked?.(blocked.message);
    this.showDetails();
  }

  unblock(): void {
    if (this.blocked === null) return;
    this.blocked = null;
    this.onBlocked?.(null);
    this.showDetails();
  }

  readonly onWake = (wake: Wake): void => {
    this.wakeCount += 1;
    this.wakes.push(wake);
    if (this.wakes.length > maxWakes) this.wakes.shift();
  };

  progress(): JobProgress {
    return truncateResult({
      jobId: this.input.jobId,
      phase: this.phase,
      since: new Date(this.sinceMs).toISOString(),
      blocked: this.blocked,
      sandboxId: this.sandbox?.id ?? null,
      prompts: this.promptResults(),
      wakes: this.wakes,
      apiCalls: this.apiCalls,
      deadlineAt: new Date(Math.min(this.deadlineAtMs, Date.now() + this.input.deadlineMs)).toISOString(),
      outcome: this.outcome,
    });
  }

  result(outcome: JobOutcome, error: JobError | null): JobResult {
    return truncateResult({
      jobId: this.input.jobId,
      outcome,
      sandboxId: this.sandbox?.id ?? null,
      sandboxName: this.sandbox?.name ?? null,
      prompts: this.promptResults(),
      setup: this.setup,
      stop: this.stop,
      deletion: this.deletion,
      files: this.files,
      left: this.left,
      wakes: this.wakes,
      wakeCount: this.wakeCount,
      apiCalls: this.apiCalls,
      durationMs: Date.now() - this.startedAtMs,
      error,
    });
  }

  private promptResults(): PromptResult[] {
    return this.prompts.map(({ step: { prompt }, ...result }) => ({
      prompt: typeof prompt === 'string' ? prompt : prompt.head,
      promptRef: typeof prompt === 'string' ? null : prompt.ref,
      ...result,
    }));
  }

  private showDetails(): void {
    const lines = [`**${this.phase.replaceAll('_', ' ')}** since ${new Date(this.sinceMs).toISOString()}`];
    if (this.sandbox) lines.push(`Sandbox ${this.sandbox.id}`);
    if (this.blocked) lines.push(`Blocked: ${this.blocked.message}`);
    setCurrentDetails(lines.join('\n\n'));
  }
}
